/** Times of single acts, and what they come to. */

export interface Contender {
  readonly name: string;
  /** Does act number `index` once; nothing of its preparation is timed. */
  readonly act: (index: number) => unknown;
}

export interface Timing {
  readonly name: string;
  readonly p50Us: number;
  readonly p99Us: number;
}

/**
 * Times contenders in turns of a few hundred acts each, so that what else the machine does falls on all of them alike.
 * The first tenth of the turns is not counted.
 */
export function measureInTurns(contenders: readonly Contender[], acts: number, actsPerTurn = 250): readonly Timing[] {
  const times = contenders.map(() => [] as number[]);
  const turns = Math.ceil(acts / actsPerTurn);
  const warmTurns = Math.ceil(turns / 10);
  for (let turn = 0; turn < turns + warmTurns; turn += 1) {
    for (const [at, { act }] of contenders.entries()) {
      for (let step = 0; step < actsPerTurn; step += 1) {
        const index = turn * actsPerTurn + step;
        const began = process.hrtime.bigint();
        act(index);
        const took = Number(process.hrtime.bigint() - began);
        if (turn >= warmTurns) times[at]?.push(took);
      }
    }
  }
  return contenders.map(({ name }, at) => {
    const sorted = Float64Array.from(times[at] ?? []).sort();
    const quantile = (q: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0) / 1_000;
    return { name, p50Us: quantile(0.5), p99Us: quantile(0.99) };
  });
}
