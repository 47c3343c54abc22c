/** The parts of the door process's side of the cloud that need no door: hints, budgets, repairs, contact. */
import { describe, expect, it } from 'vitest';
import { createStateMemory } from '#gateway/access/state-memory.ts';
import { ReadBudget } from '#gateway/control/read-budget.ts';
import type { ClockFact } from '#gateway/door/facts.ts';
import { CloudHints } from '#gateway/follow/cloud-hints.ts';
import { ContactKeeper } from '#gateway/follow/contact-keeper.ts';
import { RelayBudget } from '#gateway/follow/relay-budget.ts';
import { afterRepair, firstRepair } from '#gateway/follow/repair-turn.ts';
import type { StateWrite } from '#gateway/journal/entry.ts';
import { later, type MonoMs, monoMs, wallMs } from '#shared/instant.ts';

const head = { epoch: 3, cursor: 70 };

describe('what the relay says beside statements', () => {
  it('owes an ack for each new state, and again when it is asked to', () => {
    const hints = new CloudHints();
    expect(hints.isUnanswered(head)).toBe(true);
    hints.answered({ ack: 'applied', ...head });
    expect([hints.isUnanswered(head), hints.isUnanswered({ ...head, cursor: 71 })]).toEqual([false, true]);
    hints.forgetAnswer();
    expect(hints.isUnanswered(head)).toBe(true);
  });

  it('repairs kind by kind where the cloud’s sums differ, then asks whether it helped', () => {
    const hints = new CloudHints();
    hints.answered({ ack: 'differs', ...head });
    expect([hints.isRepairing(head), hints.repairing]).toEqual([true, 'facility']);
    for (const kind of ['schedule', 'holiday', 'door', 'reader', 'holder', 'credential', 'grant']) {
      hints.repaired('same');
      expect(hints.repairing).toBe(kind);
    }
    hints.repaired('repaired');
    expect(hints.repairing).toBe('grant');
    hints.repaired('same');
    expect([hints.isRepairing(head), hints.isUnanswered(head)]).toEqual([false, true]);
  });

  it('takes a snapshot where repairs do not help, and none once another epoch is in force', () => {
    const hints = new CloudHints();
    for (let round = 0; round < 3; round += 1) {
      hints.answered({ ack: 'differs', ...head });
      for (let kind = 0; kind < 8; kind += 1) hints.repaired('same');
    }
    expect([hints.isSnapshotNeeded(3), hints.isSnapshotNeeded(4)]).toEqual([true, false]);
  });

  it('gives a kind up that is repaired without end', () => {
    let turn = afterRepair(firstRepair, 'repaired');
    for (let round = 0; typeof turn !== 'string' && round < 100; round += 1) turn = afterRepair(turn, 'repaired');
    expect(turn).toBe('hopeless');
  });

  it('asks for the time every ten minutes, twice a minute while the clock is in doubt', () => {
    const hints = new CloudHints();
    const at = monoMs(1_000_000);
    expect(hints.isTimeDue('trusted', at)).toBe(true);
    hints.timed(at);
    const due = (clock: 'trusted' | 'untrusted', ms: number) => hints.isTimeDue(clock, later(at, ms));
    expect([due('trusted', 599_000), due('trusted', 600_000)]).toEqual([false, true]);
    expect([due('untrusted', 29_000), due('untrusted', 30_000)]).toEqual([false, true]);
  });
});

describe('a budget', () => {
  it('gives what it has, then as much as time brings, and takes nothing for what it refuses', () => {
    let now = monoMs(0);
    const budget = new RelayBudget(() => now);
    const given = () => [...Array(1_000).keys()].filter(() => budget.take('journal')).length;
    expect(given()).toBe(20);
    now = monoMs(1_000);
    expect(given()).toBe(10);
    expect(budget.take('deliver')).toBe(true);
  });

  it('lets nobody be read faster than it can be paid for', () => {
    let now = 0;
    const budget = new ReadBudget(() => now);
    expect(budget.spend(8_000_000, 0)).toBe(0);
    expect(budget.spend(16_000_000, 0)).toBe(1_000);
    now = 10_000;
    expect(budget.spend(1, 1)).toBe(0);
    expect(budget.spend(0, 1_200)).toBeGreaterThan(900);
  });
});

describe('contact', () => {
  const minute = 60_000;
  const trusted = (now: number): ClockFact => ({ state: 'trusted', now: wallMs(now), errorMs: 0 });
  const untrusted: ClockFact = { state: 'untrusted', now: undefined, errorMs: 0 };

  function keeperWith(saved: readonly StateWrite[], { bootId = 'boot-1', clock = trusted(1e12) } = {}) {
    const writes: StateWrite[] = [];
    const world = { now: monoMs(5 * minute) as MonoMs, clock };
    const keeper = new ContactKeeper({
      now: () => world.now,
      time: { read: () => world.clock },
      bootId,
      memory: createStateMemory(saved),
      keep: (state) => void writes.push(...state),
    });
    return { keeper, world, writes };
  }

  it('counts from the question, not from the answer', () => {
    const { keeper, world } = keeperWith([]);
    expect(keeper.ageMs()).toBe('unknown');
    keeper.renew(monoMs(4 * minute));
    expect(keeper.ageMs()).toBe(minute);
    world.now = monoMs(9 * minute);
    expect(keeper.ageMs()).toBe(5 * minute);
  });

  it('is kept for the next boot by trusted time, and unknown there without it', () => {
    const { keeper, writes } = keeperWith([]);
    keeper.renew(monoMs(4 * minute));
    expect(keeperWith(writes, { bootId: 'boot-2', clock: trusted(1e12 + minute) }).keeper.ageMs()).toBe(2 * minute);
    expect(keeperWith(writes, { bootId: 'boot-2', clock: untrusted }).keeper.ageMs()).toBe('unknown');
    const blind = keeperWith([], { clock: untrusted });
    blind.keeper.renew(monoMs(4 * minute));
    expect(keeperWith(blind.writes, { bootId: 'boot-2' }).keeper.ageMs()).toBe('unknown');
  });

  it('is written at most every five minutes, and forgotten with the enrolment', () => {
    const { keeper, writes } = keeperWith([]);
    for (const at of [1, 2, 3, 5.9, 6]) keeper.renew(monoMs(at * minute));
    expect(writes).toHaveLength(2);
    keeper.forget();
    expect([keeper.ageMs(), writes.at(-1)?.value]).toEqual(['unknown', null]);
  });
});
