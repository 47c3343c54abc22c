import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.ts';
import { type Parts, parts } from './parts.ts';
import { runSeed } from './run-seed.ts';

const isFull = process.env['KANNUKI_FULL'] === '1';
const worlds = isFull ? 3_000 : 300;
/** A broken rule is noticed within so many worlds. */
const worldsPerMutant = 1_000;

/** Runs worlds until one breaks. */
function firstBroken(
  of: Parts,
  most: number,
  first = 1,
): { readonly seed: number; readonly claim: string } | undefined {
  for (let seed = first; seed < first + most; seed += 1) {
    const { failure } = runSeed(seed, of, 10);
    if (failure !== undefined) return { seed, claim: failure.claim };
  }
  return undefined;
}

describe('worlds in which all goes wrong that can', () => {
  it('keep every claim at every step, and come right in the end', { timeout: 1_200_000 }, () => {
    expect(firstBroken(parts, worlds)).toBeUndefined();
  });

  it('have in them what they are to try', { timeout: 120_000 }, () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= 60; seed += 1)
      for (const [what, times] of runSeed(seed).happened) seen.set(what, (seen.get(what) ?? 0) + times);
    const rare = ['snapshot', 'urgent', 'repair', 'gap', 'fork', 'epoch', 'regressed', 'ahead', 'lie'];
    const usual = ['batch', 'grant', 'refusal', 'renewal', 'command', 'stored', 'crash', 'cut', 'disk fault'];
    expect(rare.filter((what) => (seen.get(what) ?? 0) < 1)).toEqual([]);
    expect(usual.filter((what) => (seen.get(what) ?? 0) < 20)).toEqual([]);
  });

  it('are the same again from the same seed', () => {
    expect(runSeed(11)).toEqual(runSeed(11));
    const broken = mutants.find(({ name }) => name === 'takes a batch again')?.parts ?? parts;
    const seed = firstBroken(broken, 200)?.seed ?? 0;
    const once = runSeed(seed, broken);
    expect(once.failure?.trace.length).toBeGreaterThan(10);
    expect(runSeed(seed, broken)).toEqual(once);
  });
});

describe('a rule broken on purpose', () => {
  it.each(mutants)('is noticed: $name', { timeout: 300_000 }, ({ parts: broken, firstSeed }) => {
    expect(firstBroken(broken, worldsPerMutant, firstSeed)).toBeDefined();
  });
});
