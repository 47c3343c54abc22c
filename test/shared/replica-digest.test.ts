import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { compareHeads, type ReplicaHead, rootText } from '#gateway/replica/replica-head.ts';
import { addHash, bucketCount, bucketOfId, bucketOfLookup, subtractHash, sumHex } from '#shared/replica-digest.ts';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const hashes = Array.from({ length: 200 }, (_, index) => hashOf(`row ${index}`));

test('a sum does not depend on order, and what is added can be taken out again', () => {
  const forward = hashes.reduce(addHash, 0n);
  expect([...hashes].reverse().reduce(addHash, 0n)).toBe(forward);
  expect(hashes.reduce(subtractHash, forward)).toBe(0n);
  expect(subtractHash(0n, hashes[0] ?? '')).toBeGreaterThan(0n);
  expect(sumHex(forward)).toMatch(/^[0-9a-f]{64}$/);
});

test('a sum never leaves 256 bits', () => {
  const highest = 'f'.repeat(64);
  expect(sumHex(addHash(addHash(0n, highest), highest))).toBe(`${'f'.repeat(63)}e`);
});

test('buckets are filled evenly by ids that count up', () => {
  const counts = new Uint32Array(bucketCount);
  for (let index = 0; index < 100 * bucketCount; index += 1) {
    const bucket = bucketOfId(`c${index}`);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  expect(Math.min(...counts)).toBeGreaterThan(40);
  expect(Math.max(...counts)).toBeLessThan(180);
});

test('the bucket of a credential is the first ten bits of its lookup value', () => {
  expect(bucketOfLookup('000f')).toBe(0);
  expect(bucketOfLookup('0040')).toBe(1);
  expect(bucketOfLookup('ffff')).toBe(1023);
});

test('the root names the slots, so that sums cannot change places', () => {
  const [a = '', b = ''] = hashes;
  expect(
    rootText(
      new Map([
        [1, a],
        [2, b],
      ]),
    ),
  ).not.toBe(
    rootText(
      new Map([
        [1, b],
        [2, a],
      ]),
    ),
  );
  expect(
    rootText(
      new Map([
        [2, b],
        [1, a],
      ]),
    ),
  ).toBe(
    rootText(
      new Map([
        [1, a],
        [2, b],
      ]),
    ),
  );
});

const head: ReplicaHead = { epoch: 5, cursor: 70, change: 9, digest: 'd', root: 'r' };

test.each([
  ['ahead', 'nothing was journalled', undefined],
  ['same', 'the journal has it', head],
  ['behind', 'the journal has a later change', { ...head, change: 10 }],
  ['behind', 'the journal has a later epoch', { ...head, epoch: 6, change: 1 }],
  ['ahead', 'the process ended before its entry', { ...head, change: 8, root: 'other' }],
  ['ahead', 'the epoch is new', { ...head, epoch: 4, change: 99 }],
  ['behind', 'it is another state under the same numbers', { ...head, root: 'other' }],
  ['behind', 'it has other rows under the same numbers', { ...head, digest: 'other' }],
] as const)('a head is %s where %s', (expected, _, journalled) => {
  expect(compareHeads(head, journalled)).toBe(expected);
});
