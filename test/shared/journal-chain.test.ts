import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { canonicalText } from '#shared/canonical.ts';
import { type ChainedEntry, entryHash, entryText, epochOf, judgeNext, placeOf, seqOf } from '#shared/journal-chain.ts';

const entry: ChainedEntry = {
  place: placeOf(3, 17),
  bootId: 'boot',
  at: 1_768_478_400_000,
  clockState: 'holdover',
  kind: 'access.refused',
  door: 'front "door"\\',
  requestId: null,
  body: canonicalText({ code: 'CREDENTIAL_UNKNOWN', bits: 26, name: '東京 é' }),
  personalHash: new Uint8Array(32).fill(0xab),
  prevHash: new Uint8Array(32).fill(0x01),
};

it('hashes the canonical text of the entry, put together without parsing its body', () => {
  const whole = canonicalText({
    at: entry.at,
    body: JSON.parse(entry.body),
    bootId: entry.bootId,
    clockState: entry.clockState,
    door: entry.door,
    epoch: 3,
    kind: entry.kind,
    personalHash: 'ab'.repeat(32),
    prevHash: '01'.repeat(32),
    requestId: null,
    seq: 17,
  });
  expect(entryText(entry)).toBe(whole);
  expect(Buffer.from(entryHash(entry))).toEqual(createHash('sha256').update(whole, 'utf8').digest());
});

it('keeps epoch and seq in one ordered number', () => {
  expect([epochOf(placeOf(8_191, 2 ** 40 - 1)), seqOf(placeOf(8_191, 2 ** 40 - 1))]).toEqual([8_191, 2 ** 40 - 1]);
  expect(placeOf(2, 0)).toBeGreaterThan(placeOf(1, 2 ** 40 - 1));
  expect(Number.isSafeInteger(placeOf(8_191, 2 ** 40 - 1))).toBe(true);
});

it.each([
  ['place', { place: placeOf(3, 18) }],
  ['bootId', { bootId: 'other' }],
  ['at', { at: entry.at + 1 }],
  ['clockState', { clockState: 'trusted' }],
  ['kind', { kind: 'access.granted' }],
  ['door', { door: null }],
  ['requestId', { requestId: 'r' }],
  ['body', { body: '{}' }],
  ['personalHash', { personalHash: null }],
  ['prevHash', { prevHash: new Uint8Array(32).fill(2) }],
] as const)('covers %s with the hash', (_, change) => {
  expect(entryHash({ ...entry, ...change })).not.toEqual(entryHash(entry));
});

it('says why an entry cannot follow another', () => {
  const before = { place: placeOf(3, 16), hash: entry.prevHash };
  const row = { ...entry, hash: entryHash(entry) };
  expect(judgeNext(before, row)).toBeUndefined();
  expect(judgeNext({ ...before, place: placeOf(3, 15) }, row)).toBe('missing');
  expect(judgeNext({ ...before, hash: new Uint8Array(32) }, row)).toBe('link-broken');
  expect(judgeNext(before, { ...row, body: '{"code":"GRANTED"}' })).toBe('edited');
});

it('lets a later epoch begin at one, on the hash of the one before', () => {
  const first = { ...entry, place: placeOf(5, 1) };
  expect(
    judgeNext({ place: placeOf(3, 40), hash: first.prevHash }, { ...first, hash: entryHash(first) }),
  ).toBeUndefined();
  const second = { ...entry, place: placeOf(5, 2) };
  expect(judgeNext({ place: placeOf(3, 40), hash: second.prevHash }, { ...second, hash: entryHash(second) })).toBe(
    'missing',
  );
});
