/** A bad way, restarts and replays between a gateway and a lock, and the judgement of what came of each release. */
import { expect } from 'vitest';
import { storm } from '../../fakes/storm.ts';
import { arrives, type Behaviour, type Execution, type LinkBench, obedient, release } from './link-bench.ts';

export interface Asked {
  readonly id: number;
  readonly mark: number;
  readonly at: number;
  readonly deadline: number;
}

/** What may end a session at any instant. */
interface Breaks {
  readonly at: number;
  readonly what: 'lock' | 'gateway' | 'transport';
}

/** A bolt that is now and then busy, jammed or slow. */
const moody =
  (random: () => number): Behaviour =>
  () => {
    const dice = random();
    const result = dice < 0.85 ? 'done' : dice < 0.95 ? 'busy' : 'jammed';
    return { result, takesMs: random() < 0.2 ? Math.floor(random() * 3_000) : 20 };
  };

/** Half a minute of trouble, then a clean way. */
function live(bench: LinkBench, random: () => number) {
  const asked: Asked[] = [];
  const breaks: Breaks[] = [];
  bench.behaviour = moody(random);
  bench.fate = storm(random, {
    loss: random() * 0.5,
    copies: random() * 0.4,
    damage: random() * 0.3,
    delay: random() * 0.5,
    longestDelayMs: random() < 0.3 ? 30_000 : 1_500,
  });
  const end = bench.now + 30_000;
  while (bench.now < end) {
    bench.run(Math.floor(random() * 120));
    const dice = random();
    if (dice < 0.12) ask(bench, asked, 200 + Math.floor(random() * 4_000));
    else if (dice < 0.135) breakLock(bench, breaks, random);
    else if (dice < 0.15) breaks.push(restart(bench, 'gateway'));
    else if (dice < 0.16) breaks.push(dropTransport(bench, random));
    else if (dice < 0.19) repeatSomething(bench, random);
  }
  bench.fate = arrives;
  bench.behaviour = obedient;
  return { asked, breaks };
}

export function ask(bench: LinkBench, asked: Asked[], lifetimeMs: number): void {
  const mark = asked.length + 100;
  const deadline = bench.now + lifetimeMs;
  asked.push({ id: bench.command(release(mark), lifetimeMs), mark, at: bench.now, deadline });
}

function restart(bench: LinkBench, what: 'lock' | 'gateway'): Breaks {
  if (what === 'lock') bench.restartLock();
  else bench.restartGateway();
  return { at: bench.now, what };
}

function breakLock(bench: LinkBench, breaks: Breaks[], random: () => number): void {
  bench.cutLock();
  bench.run(Math.floor(random() * 3_000));
  breaks.push(restart(bench, 'lock'));
}

function dropTransport(bench: LinkBench, random: () => number): Breaks {
  const at = bench.now;
  bench.tellGateway({ kind: 'down', at });
  bench.after(Math.floor(random() * 4_000), () => bench.tellGateway({ kind: 'reachable', at: bench.now }));
  return { at, what: 'transport' };
}

/** Somebody recorded everything and plays a part of it again. */
function repeatSomething(bench: LinkBench, random: () => number): void {
  for (let count = 0; count < 10; count += 1) {
    const old = bench.sent[Math.floor(random() * bench.sent.length)];
    if (old !== undefined) bench.inject(old.direction, old.bytes, Math.floor(random() * 2_000));
  }
}

export const runsOf = (bench: LinkBench, mark: number): readonly Execution[] =>
  bench.executions.filter(({ command }) => command.kind === 'release' && command.ms === mark);

/** What the lock did against what the gateway says it did. */
function judge(bench: LinkBench, { id, mark, at, deadline }: Asked, breaks: readonly Breaks[]): void {
  const runs = runsOf(bench, mark);
  const outcome = bench.outcomes.get(id);
  const word = { id, outcome, runs: runs.length };
  expect(['done', 'refused', 'not-executed', 'unknown', 'interrupted']).toContain(outcome);
  expect(runs.length).toBeLessThanOrEqual(1);
  if (outcome === 'done') expect(word).toEqual({ id, outcome, runs: 1 });
  if (outcome === 'not-executed') expect(word).toEqual({ id, outcome, runs: 0 });
  for (const run of runs) {
    expect(run.at).toBeLessThanOrEqual(deadline);
    // A lock that started anew has no session in which it could have been asked before.
    expect(breaks.filter((one) => one.what === 'lock' && one.at > at && one.at <= run.at)).toEqual([]);
    // Nor has a gateway that began anew a word left that acts once the next session stands.
    const begun = breaks.find((one) => one.what !== 'lock' && one.at > at);
    const next = begun && bench.did('session').find(({ seenAt }) => seenAt > begun.at + 31_000);
    if (next !== undefined) expect(run.at).toBeLessThan(next.seenAt);
  }
}

/** Half a minute of trouble, a clean way, and what must hold of it all. */
export function survive(bench: LinkBench, random: () => number): readonly Asked[] {
  const { asked, breaks } = live(bench, random);
  const cleanAt = bench.now;
  bench.run(40_000);
  expect(bench.gateway.status.kind).toBe('online');
  expect((bench.did('session').at(-1)?.seenAt ?? Number.POSITIVE_INFINITY) - cleanAt).toBeLessThan(15_000);
  const last = bench.command(release(99_999), 2_000);
  bench.run(10_000);
  expect(bench.outcomes.get(last)).toBe('done');
  expect(runsOf(bench, 99_999)).toHaveLength(1);
  for (const one of asked) judge(bench, one, breaks);
  expect(bench.outcomes.size).toBe(asked.length + 1);
  return asked;
}
