import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fakes/seeded-random.ts';
import { LinkBench } from './link-bench.ts';
import { type Asked, ask, runsOf, survive } from './link-trouble.ts';

const isFull = process.env['KANNUKI_FULL'] === '1';
const seeds = Array.from({ length: isFull ? 2_000 : 60 }, (_, index) => 41_001 + index);

describe('over a bad way with restarts and replays', () => {
  const outcomes = new Map<string, number>();

  it.each(seeds)('seed %i: at most once, in time, truthfully answered, and on line again when it is clean', (seed) => {
    const random = seededRandom(seed);
    const bench = new LinkBench({ seed, rate: 1 + (random() - 0.5) / 1_000 });
    survive(bench, random);
    for (const outcome of bench.outcomes.values()) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  });

  it('met every outcome there is', () => {
    expect([...outcomes.keys()].sort()).toEqual(['done', 'interrupted', 'not-executed', 'refused', 'unknown']);
  });
});

describe('without trouble', () => {
  it.each(seeds.slice(0, isFull ? 200 : 10))('seed %i: each release runs exactly once and is told as done', (seed) => {
    const random = seededRandom(seed);
    const bench = new LinkBench({ seed, rate: 1 + (random() - 0.5) / 1_000 }).online();
    const asked: Asked[] = [];
    for (let round = 0; round < 60; round += 1) {
      ask(bench, asked, 1_000);
      bench.run(Math.floor(random() * 5_000));
    }
    bench.run(2_000);
    for (const { id, mark } of asked) {
      expect({ id, outcome: bench.outcomes.get(id), runs: runsOf(bench, mark).length }).toEqual({
        id,
        outcome: 'done',
        runs: 1,
      });
    }
    expect(bench.said('alarm')).toEqual([]);
    expect(bench.did('session')).toHaveLength(1);
  });
});
