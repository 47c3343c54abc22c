import { describe, expect, it } from 'vitest';
import { freshMemory, pickTurn, type Slot } from '#gateway/device/osdp/bus-schedule.ts';

interface Reader extends Slot {
  readonly name: string;
  dueAt: number;
  servedAt: number;
  isPresent: boolean;
  isUrgent: boolean;
}
const reader = (name: string, parts: Partial<Reader> = {}): Reader => ({
  name,
  dueAt: 0,
  servedAt: Number.NEGATIVE_INFINITY,
  isPresent: true,
  isUrgent: false,
  ...parts,
});

/** Runs the bus on a virtual clock: an answered turn takes `exchangeMs`, an unanswered one `timeoutMs`. */
function simulate(readers: readonly Reader[], untilMs: number, costs = { exchangeMs: 4, timeoutMs: 30, pollMs: 0 }) {
  let memory = freshMemory;
  let at = 0;
  const turns: { readonly name: string; readonly at: number }[] = [];
  while (at < untilMs) {
    const pick = pickTurn(readers, memory, at);
    if (pick.kind === 'wait') {
      expect(pick.until).toBeGreaterThan(at);
      at = pick.until;
      continue;
    }
    memory = pick.memory;
    turns.push({ name: pick.slot.name, at });
    pick.slot.servedAt = at;
    at += pick.slot.isPresent ? costs.exchangeMs : costs.timeoutMs;
    pick.slot.dueAt = pick.slot.isPresent ? pick.slot.servedAt + costs.pollMs : at + 1_000;
  }
  return turns;
}

/** The longest time between two turns of one reader, ms. */
const longestGap = (turns: readonly { name: string; at: number }[], name: string) => {
  const times = turns.filter((turn) => turn.name === name).map((turn) => turn.at);
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
};

describe('the schedule of a bus', () => {
  it('goes round', () => {
    const turns = simulate(
      ['a', 'b', 'c'].map((name) => reader(name)),
      24,
    );
    expect(turns.map((turn) => turn.name)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('waits for the earliest that is due', () => {
    const slots = [reader('a', { dueAt: 50 }), reader('b', { dueAt: 40 })];
    expect(pickTurn(slots, freshMemory, 10)).toEqual({ kind: 'wait', until: 40 });
  });

  it('gives a release the next turn', () => {
    const slots = [
      reader('a', { servedAt: 1 }),
      reader('b', { servedAt: 2 }),
      reader('c', { servedAt: 3, isUrgent: true }),
    ];
    const pick = pickTurn(slots, freshMemory, 10);
    expect(pick.kind === 'turn' && pick.slot.name).toBe('c');
  });

  it('does not let one reader’s urgent commands take the line from the others', () => {
    const turns = simulate([reader('busy', { isUrgent: true }), reader('a'), reader('b')], 400);
    expect(longestGap(turns, 'a')).toBeLessThanOrEqual(2 * 5 * 4);
    expect(longestGap(turns, 'b')).toBeLessThanOrEqual(2 * 5 * 4);
  });

  it('polls eight readers of which one is dead as if it were not there, but for one probe at a time', () => {
    const alive = () => Array.from({ length: 7 }, (_, index) => reader(`r${index}`));
    const costs = { exchangeMs: 4, timeoutMs: 30, pollMs: 0 };
    const without = simulate(alive(), 20_000, costs);
    const withDead = simulate([...alive(), reader('dead', { isPresent: false })], 20_000, costs);
    for (const { name } of alive()) {
      expect(longestGap(withDead, name)).toBeLessThanOrEqual(longestGap(without, name) + costs.timeoutMs);
    }
  });

  it('gives no two absent readers a turn without one for everybody else between', () => {
    const dead = Array.from({ length: 5 }, (_, index) => reader(`dead${index}`, { isPresent: false }));
    const turns = simulate([...dead, reader('a'), reader('b')], 5_000).map((turn) => turn.name);
    turns.forEach((name, index) => {
      if (!name.startsWith('dead')) return;
      const next = turns.slice(index + 1).findIndex((other) => other.startsWith('dead'));
      const between = turns.slice(index + 1, next < 0 ? undefined : index + 1 + next);
      if (next >= 0) expect(new Set(between)).toEqual(new Set(['a', 'b']));
    });
    for (const { name } of dead) expect(turns).toContain(name);
  });

  it('probes an absent reader even while the line is full', () => {
    const turns = simulate([reader('a'), reader('b'), reader('dead', { isPresent: false })], 5_000);
    expect(turns.filter((turn) => turn.name === 'dead')).toHaveLength(5);
  });
});
