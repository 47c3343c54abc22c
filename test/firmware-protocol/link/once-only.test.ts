import { expect, it } from 'vitest';
import { answerOnce, beginOnce, nothingBegun, type OnceOnly, placesCount } from '#protocol/link/once-only.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

function begin(table: OnceOnly, request: number): OnceOnly {
  const standing = beginOnce(table, request);
  if (standing.kind !== 'new') throw new Error(`${request} is ${standing.kind}`);
  return standing.table;
}

it('is new once, then under way, then answered out of memory', () => {
  const begun = begin(nothingBegun, 7);
  expect(beginOnce(begun, 7)).toEqual({ kind: 'begun' });
  const answered = answerOnce(begun, 7, 'jammed');
  if (answered === undefined) throw new Error('not answered');
  expect(beginOnce(answered, 7)).toEqual({ kind: 'answered', result: 'jammed' });
  expect(answerOnce(answered, 7, 'done')).toBeUndefined();
});

it('takes numbers in any order as long as they lie within its places', () => {
  let table = nothingBegun;
  for (const request of [9, 3, 5, 4, 34, 10]) table = begin(table, request);
  expect(beginOnce(table, 5)).toEqual({ kind: 'begun' });
});

it('never says again that a number is new, even when it has forgotten what came of it', () => {
  let table = begin(nothingBegun, 5);
  table = begin(table, 5 + placesCount);
  expect(beginOnce(table, 5)).toEqual({ kind: 'too-old' });
  expect(answerOnce(table, 5, 'done')).toBeUndefined();
  expect(beginOnce(table, 5 + placesCount)).toEqual({ kind: 'begun' });
});

it('calls each of many numbers in any order new at most once, and holds no more than its places', () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = seededRandom(seed);
    const seen = new Set<number>();
    let table = nothingBegun;
    for (let round = 0; round < 500; round += 1) {
      const request = 1 + Math.floor(random() * 300);
      const standing = beginOnce(table, request);
      if (standing.kind !== 'new') continue;
      expect({ seed, request, isSecond: seen.has(request) }).toEqual({ seed, request, isSecond: false });
      seen.add(request);
      table = standing.table;
    }
    expect(table.size).toBeLessThanOrEqual(placesCount);
  }
});
