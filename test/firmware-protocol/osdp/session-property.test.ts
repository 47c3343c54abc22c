import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../fakes/seeded-random.ts';
import { storm } from '../../fakes/storm.ts';
import { arrives, card, plainPanel, plainReader, SessionBench, securePanel, secureReader } from './session-bench.ts';

const isFull = process.env['KANNUKI_FULL'] === '1';
const seeds = Array.from({ length: isFull ? 2_000 : 60 }, (_, index) => 7_001 + index);

interface Sent {
  readonly id: number;
  readonly mark: number;
}

/** Half a minute of trouble with cards, releases and power cuts, then a clean line. */
function live(bench: SessionBench, random: () => number, longestDelayMs: number) {
  const sent: Sent[] = [];
  let cards = 0;
  bench.fate = storm(random, {
    loss: random() * 0.5,
    copies: random() * 0.3,
    damage: random() * 0.4,
    delay: random() * 0.4,
    longestDelayMs,
  });
  const end = bench.now + 30_000;
  while (bench.now < end) {
    bench.turn();
    const dice = random();
    if (dice < 0.05) {
      cards += 1;
      bench.present(card(cards));
    } else if (dice < 0.1) {
      const mark = sent.length + 1;
      const id = bench.command({ kind: 'output', records: [{ output: 0, action: 'on-for-timer', timerTenths: mark }] });
      sent.push({ id, mark });
    } else if (dice < 0.103) {
      bench.cutPower();
    } else if (dice < 0.12) {
      bench.restorePower();
    }
  }
  bench.restorePower();
  bench.fate = arrives;
  bench.flushes = true;
  return { sent, cards };
}

const timesOf = (values: readonly number[]): ReadonlyMap<number, number> => {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

function cardsRead(bench: SessionBench): readonly number[] {
  return bench
    .said('event')
    .flatMap(({ reply }) => (reply.kind === 'card' ? [((reply.bytes[1] ?? 0) << 8) | (reply.bytes[2] ?? 0)] : []));
}

describe.each([
  { name: 'secure', panel: securePanel, reader: secureReader, longestDelayMs: 900 },
  // In plain nothing but the sequence tells a late copy from a new message, so copies may not be three exchanges late.
  { name: 'plain', panel: plainPanel, reader: plainReader, longestDelayMs: 15 },
])('over a bad line, $name', ({ panel, reader, longestDelayMs }) => {
  it.each(seeds)('seed %i: never stuck, nothing twice, every command answered, up again when it is clean', (seed) => {
    const random = seededRandom(seed);
    const bench = new SessionBench(panel, reader, seed);
    bench.flushes = longestDelayMs < 100 || random() < 0.7;
    const { sent, cards } = live(bench, random, longestDelayMs);

    const cleanAt = bench.now;
    bench.run(15_000);
    expect(bench.panel.status?.kind).toBe('online');
    const since = bench.panel.status?.kind === 'online' ? bench.panel.status.since : Number.POSITIVE_INFINITY;
    expect(since - cleanAt).toBeLessThan(10_000);

    bench.present(card(cards + 1));
    const lastId = bench.command({
      kind: 'output',
      records: [{ output: 0, action: 'on-for-timer', timerTenths: sent.length + 1 }],
    });
    bench.run(500);
    expect(cardsRead(bench)).toContain(cards + 1);

    for (const [number, times] of timesOf(cardsRead(bench))) expect({ number, times }).toEqual({ number, times: 1 });
    const executed = timesOf(bench.did('output').map(({ timerMs }) => timerMs / 100));
    const outcomes = new Map(bench.said('command-done').map(({ id, outcome }) => [id, outcome.kind]));
    expect(bench.said('command-done')).toHaveLength(sent.length + 1);
    expect(outcomes.get(lastId)).toBe('accepted');
    for (const { id, mark } of sent) {
      const times = executed.get(mark) ?? 0;
      const outcome = outcomes.get(id);
      expect(times).toBeLessThanOrEqual(1);
      if (outcome === 'accepted') expect({ id, times }).toEqual({ id, times: 1 });
      if (outcome === 'not-executed' || outcome === 'refused') expect({ id, times }).toEqual({ id, times: 0 });
    }
    for (const { at, deadline } of bench.sentCommands) expect(at).toBeLessThan(deadline);
  });
});
