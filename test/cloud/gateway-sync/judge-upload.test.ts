import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type JournalStand, judgeUpload, type UploadFacts } from '#cloud/gateway-sync/judge-upload.ts';
import type { JournalUpload, UploadedEntry, UploadedHead } from '#shared/contract/sync/journal.ts';
import { identifier } from '#shared/identifier.ts';
import { entryHash, hexOf, personalHash, placeOf } from '#shared/journal-chain.ts';

const zero = '0'.repeat(64);
const gateway = identifier<'gateway'>('gw1');

/** Key pairs by the name under which heads carry them. */
const keys = new Map<string, KeyObject>();
function newKey(): { readonly name: string; readonly key: KeyObject } {
  const pair = generateKeyPairSync('ed25519');
  const name = pair.publicKey.export({ format: 'jwk' }).x ?? '';
  keys.set(name, pair.publicKey);
  return { name, key: pair.privateKey };
}
const textOf = ({ epoch, seq, at, hash, nextKey }: Omit<UploadedHead, 'signature'>) =>
  Buffer.from(JSON.stringify([epoch, seq, at, hash, nextKey]));
const isSigned = (head: UploadedHead, name: string): boolean => {
  const key = keys.get(name);
  return key !== undefined && verify(null, textOf(head), key, Buffer.from(head.signature, 'base64url'));
};

/** A gateway's history, as it would upload it. */
function history(epoch = 1, prevHash = zero) {
  const first = newKey();
  const entries: UploadedEntry[] = [];
  const heads: UploadedHead[] = [];
  let current = first;
  const hashAt = (seq: number) => (seq === 0 ? prevHash : (entries[seq - 1]?.hash ?? zero));
  const append = (kind: string): void => {
    const seq = entries.length + 1;
    const plain = {
      bootId: 'b',
      at: seq,
      clockState: 'trusted' as const,
      kind,
      door: null,
      requestId: null,
      body: '{}',
    };
    const chained = {
      ...plain,
      place: placeOf(epoch, seq),
      personalHash: null,
      prevHash: Buffer.from(hashAt(seq - 1), 'hex'),
    };
    entries.push({ ...plain, seq, personalHash: null, hash: hexOf(entryHash(chained)) });
  };
  const signHead = (): void => {
    const next = newKey();
    const claim = { epoch, seq: entries.length, at: 1, hash: hashAt(entries.length), nextKey: next.name };
    heads.push({ ...claim, signature: sign(null, textOf(claim), current.key).toString('base64url') });
    current = next;
  };
  return {
    firstKey: first.name,
    keyAfter: (seq: number) => heads.filter((head) => head.seq <= seq).at(-1)?.nextKey ?? first.name,
    write: (count: number, kind = 'door.opened') => {
      for (let index = 0; index < count; index += 1) append(kind);
      signHead();
    },
    hashAt,
    standAt: (seq: number): JournalStand => ({
      epoch,
      seq,
      hash: seq === 0 && epoch === 1 ? undefined : hashAt(seq),
      nextKey: heads.filter((head) => head.seq <= seq).at(-1)?.nextKey ?? first.name,
    }),
    stored: (from: number, to: number) =>
      new Map(Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => [from + index, hashAt(from + index)])),
    upload: (from: number, to: number): JournalUpload => ({
      epoch,
      firstSeq: from,
      prevHash: hashAt(from - 1),
      entries: entries.slice(from - 1, to),
      heads: heads.filter(({ seq }) => seq >= from && seq <= to),
    }),
  };
}

function written(...parts: readonly number[]) {
  const made = history();
  for (const count of parts) made.write(count);
  return made;
}

const facts = (stand: JournalStand, more: Partial<UploadFacts> = {}): UploadFacts => ({
  gateway,
  stand,
  stored: new Map(),
  keyBefore: stand.nextKey,
  begins: undefined,
  gap: undefined,
  ...more,
});

describe('an upload', () => {
  it('is stored where it follows', () => {
    const made = written(3, 2);
    const judged = judgeUpload(facts(made.standAt(3)), made.upload(4, 5), isSigned);
    expect(judged).toMatchObject({ kind: 'store', stand: made.standAt(5) });
    expect(judged.kind === 'store' && judged.entries.map(({ seq }) => seq)).toEqual([4, 5]);
  });

  it('is stored from the first entry on, whatever that stands on', () => {
    const made = written(2);
    expect(judgeUpload(facts(made.standAt(0)), made.upload(1, 2), isSigned)).toMatchObject({ kind: 'store' });
  });

  it('is stored once: what is there already is left out', () => {
    const made = written(3, 2);
    const overlapping = facts(made.standAt(3), { stored: made.stored(1, 3), keyBefore: made.firstKey });
    const judged = judgeUpload(overlapping, made.upload(1, 5), isSigned);
    expect(judged.kind === 'store' && judged.entries.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(judged.kind === 'store' && judged.heads.map(({ seq }) => seq)).toEqual([5]);
  });

  it('that is all there already changes nothing', () => {
    const made = written(3, 2);
    const all = facts(made.standAt(5), { stored: made.stored(0, 5), keyBefore: made.firstKey });
    expect(judgeUpload(all, made.upload(1, 3), isSigned)).toEqual({ kind: 'noop' });
  });

  it('that leaves one out is asked for again', () => {
    const made = written(3, 2);
    expect(judgeUpload(facts(made.standAt(2)), made.upload(4, 5), isSigned)).toEqual({ kind: 'gap' });
  });

  it('of an epoch that is over, or of one that nobody began, is asked for again', () => {
    const made = written(3);
    const later = history(2, made.hashAt(3));
    later.write(2);
    expect(judgeUpload(facts(later.standAt(2)), made.upload(1, 3), isSigned)).toEqual({ kind: 'gap' });
    expect(judgeUpload(facts(made.standAt(3)), later.upload(1, 2), isSigned)).toEqual({ kind: 'gap' });
  });
});

describe('an upload that is no history', () => {
  const made = written(3);
  const good = made.upload(1, 3);
  const stand = facts(made.standAt(0));
  const changed = (index: number, change: Partial<UploadedEntry>): JournalUpload => ({
    ...good,
    entries: good.entries.map((entry, at) => (at === index ? { ...entry, ...change } : entry)),
  });
  const forged = newKey();
  const reason = (upload: JournalUpload) => {
    const judged = judgeUpload(stand, upload, isSigned);
    return judged.kind === 'refused' ? judged.reason : judged.kind;
  };

  it.each([
    ['an edited entry', changed(1, { kind: 'door.closed' }), 'edited'],
    ['a number twice', changed(1, { seq: 1 }), 'misnumbered'],
    ['an entry left out', { ...good, entries: good.entries.filter(({ seq }) => seq !== 2) }, 'misnumbered'],
    ['another hash before it', { ...good, prevHash: 'f'.repeat(64) }, 'edited'],
    ['no head', { ...good, heads: [] }, 'unsigned-end'],
    ['an end after its last head', { ...written(3), ...good, entries: good.entries, heads: [] }, 'unsigned-end'],
    [
      'a head of something else',
      { ...good, heads: good.heads.map((head) => ({ ...head, hash: zero })) },
      'head-differs',
    ],
    ['a head of another epoch', { ...good, heads: good.heads.map((head) => ({ ...head, epoch: 2 })) }, 'head-differs'],
    ['its head twice', { ...good, heads: [...good.heads, ...good.heads] }, 'head-differs'],
    [
      'a head by another key',
      {
        ...good,
        heads: good.heads.map((head) => ({
          ...head,
          signature: sign(null, textOf(head), forged.key).toString('base64url'),
        })),
      },
      'head-forged',
    ],
  ])('is refused: %s', (_, upload, expected) => {
    expect(reason(upload)).toBe(expected);
  });

  it('is refused where a personal value is not the one that was hashed', () => {
    const salt = Buffer.alloc(16, 7);
    const kept = hexOf(personalHash(salt, '{"name":"Aiko"}'));
    const personal = { salt: salt.toString('base64url'), value: '{"name":"Mallory"}' };
    const plain = {
      bootId: 'b',
      at: 1,
      clockState: 'trusted' as const,
      kind: 'x',
      door: null,
      requestId: null,
      body: '{}',
    };
    const hash = hexOf(
      entryHash({ ...plain, place: placeOf(1, 1), personalHash: Buffer.from(kept, 'hex'), prevHash: Buffer.alloc(32) }),
    );
    const entry = { ...plain, seq: 1, personalHash: kept, personal, hash };
    expect(reason({ epoch: 1, firstSeq: 1, prevHash: zero, entries: [entry], heads: [] })).toBe('personal-edited');
  });
});

describe('two histories under one number', () => {
  it('are told apart, where one goes on from an older disk', () => {
    const one = written(3);
    const stand = one.standAt(3);
    const other = history();
    other.write(3, 'door.closed');
    const judged = judgeUpload(
      facts(stand, { stored: one.stored(0, 3), keyBefore: other.firstKey }),
      other.upload(2, 3),
      isSigned,
    );
    expect(judged.kind).toBe('forked');
  });

  it('are told apart by what follows the last entry', () => {
    const one = written(3);
    one.write(1);
    const forkedStand = { ...one.standAt(3), hash: 'e'.repeat(64) };
    expect(judgeUpload(facts(forkedStand), one.upload(4, 4), isSigned)).toMatchObject({ kind: 'forked', seq: 3 });
  });

  it('are both kept: the answer names the entries that differ', () => {
    const one = written(3);
    const stored = new Map([...one.stored(1, 3)].map(([seq, hash]) => [seq, seq === 3 ? zero : hash]));
    const judged = judgeUpload(
      facts({ ...one.standAt(3), hash: zero }, { stored, keyBefore: one.firstKey }),
      one.upload(1, 3),
      isSigned,
    );
    expect(judged.kind === 'forked' && [judged.seq, judged.entries.map(({ seq }) => seq)]).toEqual([3, [3]]);
  });

  it('are no alarm where the other is not signed by the gateway', () => {
    const one = written(3);
    const invented = written(3);
    const judged = judgeUpload(
      facts(one.standAt(3), { stored: one.stored(0, 3), keyBefore: one.firstKey }),
      invented.upload(1, 3),
      isSigned,
    );
    expect(judged).toEqual({ kind: 'refused', reason: 'head-forged' });
  });
});

describe('a gap', () => {
  const made = written(3, 2, 2);
  const gap = { gateway, epoch: 1, fromSeq: 2, toSeq: 5, lastHash: made.hashAt(5), nextKey: made.keyAfter(5) };

  it('that the door process signed is stored as a gap', () => {
    const judged = judgeUpload(facts(made.standAt(3), { gap }), made.upload(6, 7), isSigned);
    expect(judged).toMatchObject({ kind: 'store', gap: { fromSeq: 4, toSeq: 5 }, stand: { seq: 7 } });
  });

  it('that begins after what is missing is asked for again', () => {
    const judged = judgeUpload(facts(made.standAt(0), { gap }), made.upload(6, 7), isSigned);
    expect(judged).toEqual({ kind: 'gap' });
  });

  it('that says something else than the upload is refused', () => {
    const refusal = { kind: 'refused', reason: 'contradicts-statement' };
    expect(judgeUpload(facts(made.standAt(3), { gap: { ...gap, toSeq: 4 } }), made.upload(6, 7), isSigned)).toEqual(
      refusal,
    );
    expect(
      judgeUpload(facts(made.standAt(3), { gap: { ...gap, lastHash: zero } }), made.upload(6, 7), isSigned),
    ).toEqual(refusal);
    expect(judgeUpload(facts(made.standAt(3), { gap: { ...gap, epoch: 2 } }), made.upload(6, 7), isSigned)).toEqual(
      refusal,
    );
  });

  it('of another gateway is refused', () => {
    const foreign = facts(made.standAt(3), { gap: { ...gap, gateway: identifier<'gateway'>('gw2') } });
    expect(judgeUpload(foreign, made.upload(6, 7), isSigned)).toEqual({ kind: 'refused', reason: 'other-gateway' });
  });

  it('is none where what it names arrived before', () => {
    const judged = judgeUpload(facts(made.standAt(5), { gap }), made.upload(6, 7), isSigned);
    expect(judged.kind === 'store' && judged.gap).toBeUndefined();
  });
});

describe('a new epoch', () => {
  const old = written(5);
  const made = history(2, old.hashAt(3));
  made.write(2, 'journal.lost');
  const begins = { gateway, epoch: 2, firstKey: made.firstKey, prevHash: old.hashAt(3), before: { epoch: 1, seq: 3 } };

  it('begins where the door process says so', () => {
    const judged = judgeUpload(facts(old.standAt(5), { begins }), made.upload(1, 2), isSigned);
    expect(judged).toMatchObject({ kind: 'store', begins: { before: { seq: 3 } }, stand: { epoch: 2, seq: 2 } });
  });

  it('begins once', () => {
    const again = facts(made.standAt(2), { begins, stored: made.stored(1, 2), keyBefore: made.firstKey });
    expect(judgeUpload(again, made.upload(1, 2), isSigned)).toEqual({ kind: 'noop' });
  });

  it('begins with its first entry, on what was said', () => {
    expect(judgeUpload(facts(old.standAt(5), { begins }), made.upload(2, 2), isSigned)).toEqual({ kind: 'gap' });
    const elsewhere = facts(old.standAt(5), { begins: { ...begins, prevHash: zero } });
    expect(judgeUpload(elsewhere, made.upload(1, 2), isSigned)).toMatchObject({ kind: 'forked' });
    const otherEpoch = facts(old.standAt(5), { begins: { ...begins, epoch: 3 } });
    expect(judgeUpload(otherEpoch, made.upload(1, 2), isSigned)).toEqual({
      kind: 'refused',
      reason: 'contradicts-statement',
    });
  });
});
