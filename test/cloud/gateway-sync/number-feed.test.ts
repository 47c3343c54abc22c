import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutBatch } from '#cloud/gateway-sync/cut-batch.ts';
import {
  type CommittedGroup,
  type FeedHead,
  type MirrorRow,
  mirrorKey,
  numberFeed,
} from '#cloud/gateway-sync/number-feed.ts';
import type { FeedChange } from '#shared/contract/sync/feed.ts';
import { identifier } from '#shared/identifier.ts';
import { plainHashOf } from '#shared/replica-columns.ts';
import { addHash, digestOf, emptySums } from '#shared/replica-digest.ts';

const sums = () => ({ ...emptySums });
const empty: FeedHead = { seq: 0, sums: sums() };
const put = (id: string, version: number, name = 'Aiko'): FeedChange => ({
  op: 'put',
  kind: 'holder',
  row: { id: identifier(id), name, version },
});
const remove = (id: string, version: number): FeedChange => ({
  op: 'remove',
  kind: 'holder',
  id: identifier(id),
  version,
});
const group = (id: number, ...changes: readonly FeedChange[]): CommittedGroup => ({ id: BigInt(id), changes });
const noMirror = new Map<string, MirrorRow>();

describe('numbering', () => {
  it('gives whole groups places without gaps, in the order of their ids', () => {
    const { changes, head } = numberFeed(empty, [group(7, put('c', 3)), group(2, put('a', 1), put('b', 2))], noMirror);
    expect(changes.map(({ seq, key }) => [seq, key])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
    expect(head.seq).toBe(3);
  });

  it('places a group that was seen later behind one that was seen before it, whatever its id', () => {
    const first = numberFeed(empty, [group(9, put('a', 1))], noMirror);
    const second = numberFeed(first.head, [group(4, put('b', 1))], noMirror);
    expect(second.changes[0]).toMatchObject({ seq: 2, key: 'b' });
  });

  it('refuses to number one group twice', () => {
    expect(() => numberFeed(empty, [group(1, put('a', 1)), group(1, put('a', 2))], noMirror)).toThrow('numbered once');
  });

  it('uses up a number for what is not newer, and changes nothing by it', () => {
    const held = new Map([[mirrorKey('holder', 'a'), { version: 5, hash: '0'.repeat(64) }]]);
    const { changes, head, mirror } = numberFeed(
      empty,
      [group(1, put('a', 5), put('a', 4), remove('a', 4), remove('b', 1))],
      held,
    );
    expect(changes.map(({ isEffective }) => isEffective)).toEqual([false, false, false, false]);
    expect(head).toEqual({ seq: 4, sums: empty.sums });
    expect(mirror.size).toBe(0);
  });

  it('lets a row come back after it was removed', () => {
    const { changes } = numberFeed(empty, [group(1, put('a', 1), remove('a', 2), put('a', 2))], noMirror);
    expect(changes.map(({ isEffective }) => isEffective)).toEqual([true, true, true]);
  });

  it('keeps the sums that the rows have', () => {
    const change = fc.oneof(
      fc
        .record({
          id: fc.constantFrom('a', 'b', 'c'),
          version: fc.integer({ min: 1, max: 6 }),
          name: fc.constantFrom('x', 'y'),
        })
        .map(({ id, version, name }) => put(id, version, name)),
      fc
        .record({ id: fc.constantFrom('a', 'b', 'c'), version: fc.integer({ min: 1, max: 6 }) })
        .map(({ id, version }) => remove(id, version)),
    );
    fc.assert(
      fc.property(fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { maxLength: 8 }), (groups) => {
        const rows = new Map<string, MirrorRow & { readonly put: FeedChange }>();
        let head = empty;
        for (const [index, changes] of groups.entries()) {
          const numbering = numberFeed(head, [group(index, ...changes)], rows);
          head = numbering.head;
          for (const { kind, key, change: numbered, isEffective } of numbering.changes) {
            if (!isEffective) continue;
            const row = numbering.mirror.get(mirrorKey(kind, key));
            if (row === undefined) rows.delete(mirrorKey(kind, key));
            else rows.set(mirrorKey(kind, key), { ...row, put: numbered });
          }
        }
        const total = sums();
        for (const { put: held } of rows.values())
          if (held.op === 'put' && held.kind === 'holder')
            total.holder = addHash(total.holder, plainHashOf('holder', held.row));
        expect(digestOf(head.sums)).toBe(digestOf(total));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a batch', () => {
  const limits = { changesMax: 10, bytesMax: 1_000 };
  const groups = (...sizes: readonly (readonly [changes: number, bytes: number])[]) => {
    let last = 0;
    return sizes.map(([changes, bytes]) => {
      const firstSeq = last + 1;
      last += changes;
      return { firstSeq, lastSeq: last, changes, bytes };
    });
  };

  it('holds as many whole groups as fit', () => {
    expect(cutBatch(0, groups([4, 100], [6, 100], [1, 100]), limits)).toBe(10);
    expect(cutBatch(0, groups([4, 100], [7, 100]), limits)).toBe(4);
    expect(cutBatch(0, groups([4, 600], [2, 500]), limits)).toBe(4);
  });

  it('holds a single group that is larger than that, alone', () => {
    expect(cutBatch(0, groups([2, 5_000], [1, 1]), limits)).toBe(2);
  });

  it('ends before a place that is missing, and is empty where nothing follows', () => {
    const [first, second, third] = groups([2, 1], [2, 1], [2, 1]);
    if (!first || !second || !third) throw new Error('three groups');
    expect(cutBatch(0, [first, third], limits)).toBe(2);
    expect(cutBatch(0, [second, third], limits)).toBe(0);
    expect(cutBatch(6, [], limits)).toBe(6);
  });
});
