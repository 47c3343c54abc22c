import { describe, expect, it } from 'vitest';
import { backOffMs } from '#gateway/sync/back-off.ts';
import type { CallFailure } from '#gateway/sync/call-failure.ts';
import type { Call, CallResult } from '#gateway/sync/call-record.ts';
import {
  createSync,
  type DoorNeeds,
  type SyncEffect,
  type SyncInput,
  type SyncState,
  stepSync,
  uplinkOf,
  uploadEntriesMax,
} from '#gateway/sync/sync-machine.ts';
import { monoMs } from '#shared/instant.ts';

const nothing: DoorNeeds = { ack: false, snapshot: false, repair: false, journal: false, time: false, read: false };

/** Drives the machine and keeps what it last asked for. */
function drive(random = 0.5) {
  let state: SyncState = createSync();
  let now = 1_000;
  let effects: readonly SyncEffect[] = [];
  const give = (input: SyncInput) => {
    const step = stepSync(state, input, monoMs(now), random);
    state = step.state;
    effects = step.effects;
    return calls();
  };
  const calls = (): readonly Call[] => effects.flatMap((effect) => (effect.kind === 'call' ? [effect.call] : []));
  const end = (call: Call, result: CallResult, needs?: Partial<DoorNeeds>) =>
    give({ kind: 'ended', call, result, ...(needs === undefined ? {} : { needs: { ...nothing, ...needs } }) });
  return {
    give,
    ok: (call: Call, needs: Partial<DoorNeeds> = {}) => end(call, { kind: 'ok' }, needs),
    /** A poll that brought nothing. */
    empty: (needs: Partial<DoorNeeds> = {}) => end('feed', { kind: 'ok', isEmpty: true }, needs),
    fail: (call: Call, why: CallFailure, retryAfterMs?: number) =>
      end(call, { kind: 'failed', why, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }),
    pass: (ms: number) => {
      now += ms;
      return give({ kind: 'tick' });
    },
    wakeInMs: () => effects.flatMap((effect) => (effect.kind === 'wake' ? [effect.at - now] : []))[0],
    entries: () => effects.flatMap((effect) => (effect.kind === 'call' ? [effect.uploadEntries] : []))[0],
    uplink: () => uplinkOf(state),
  };
}

/** As far as the long poll. */
function online() {
  const edge = drive();
  edge.give({ kind: 'tick' });
  edge.ok('time', { ack: true, journal: true });
  edge.ok('journal', { ack: true });
  edge.ok('ack');
  return edge;
}

describe('what edge does next', () => {
  it('asks for the time, says where the door process stands and sends history at once when it starts', () => {
    expect(drive().give({ kind: 'tick' })).toEqual(['time', 'ack', 'journal']);
  });

  it('polls once the ack was answered', () => {
    const edge = drive();
    edge.give({ kind: 'tick' });
    expect(edge.ok('ack')).toEqual(['feed']);
  });

  it('has one call under way in each lane, whatever is needed meanwhile', () => {
    const edge = online();
    expect(edge.give({ kind: 'needs', needs: { ...nothing, ack: true, journal: true } })).toEqual(['journal']);
    expect(edge.give({ kind: 'needs', needs: { ...nothing, ack: true, journal: true, read: true } })).toEqual([]);
  });

  it('acknowledges before it polls again', () => {
    expect(online().ok('feed', { ack: true })).toEqual(['ack']);
  });

  it('acknowledges the old before it fetches a snapshot, and fetches before it repairs', () => {
    const edge = online();
    expect(edge.ok('feed', { ack: true, snapshot: true, repair: true })).toEqual(['ack']);
    expect(edge.ok('ack', { snapshot: true, repair: true })).toEqual(['snapshot']);
    expect(edge.ok('snapshot', { repair: true })).toEqual(['repair']);
    expect(edge.ok('repair')).toEqual(['feed']);
  });

  it('does not ask again at once after a poll that ended at once with nothing', () => {
    const edge = online();
    expect(edge.ok('feed')).toEqual([]);
    expect(edge.wakeInMs()).toBe(250);
    expect(edge.pass(250)).toEqual(['feed']);
  });

  it('does not ask in a circle where polls end at once with nothing, whatever each gives to acknowledge', () => {
    const edge = online();
    let polls = 1;
    let passedMs = 0;
    for (let turn = 0; turn < 40; turn += 1) {
      expect(edge.empty({ ack: true })).toEqual(['ack']);
      expect(edge.ok('ack')).toEqual([]);
      const waitMs = edge.wakeInMs() ?? 0;
      passedMs += waitMs;
      expect(edge.pass(waitMs)).toEqual(['feed']);
      polls += 1;
    }
    expect(polls / (passedMs / 1_000)).toBeLessThan(5);
  });

  it('asks again at once after a poll that brought something, once that was acknowledged', () => {
    const edge = online();
    expect(edge.ok('feed', { ack: true })).toEqual(['ack']);
    expect(edge.ok('ack')).toEqual(['feed']);
  });

  it('asks again at once after a poll that lasted', () => {
    const edge = online();
    edge.pass(25_000);
    expect(edge.ok('feed')).toEqual(['feed']);
  });

  it('takes a late echo of a call that is not under way for nothing', () => {
    const edge = online();
    expect(edge.ok('ack', { snapshot: true })).toEqual([]);
    expect(edge.ok('feed', { ack: true })).toEqual(['ack']);
  });

  it('does nothing after it was stopped', () => {
    const edge = online();
    edge.give({ kind: 'stop' });
    expect(edge.ok('feed', { ack: true })).toEqual([]);
  });
});

describe('what edge does after a failure', () => {
  it('waits longer each time up to a minute, and goes on for ever', () => {
    const edge = drive(0.999);
    edge.give({ kind: 'tick' });
    edge.ok('time');
    edge.ok('journal');
    edge.ok('ack');
    const waits = Array.from({ length: 40 }, () => {
      edge.fail('feed', 'unreachable');
      const wait = edge.wakeInMs() ?? 0;
      expect(edge.pass(wait)).toEqual(['feed']);
      return wait;
    });
    expect(waits.slice(0, 7)).toEqual([999, 1_998, 3_996, 7_992, 15_984, 31_968, 59_940]);
    expect(Math.max(...waits)).toBe(59_940);
  });

  it('polls although the ack keeps failing', () => {
    const edge = drive();
    edge.give({ kind: 'tick' });
    expect(edge.fail('ack', 'cloud-fault')).toEqual(['feed']);
  });

  it('stops waiting for the way when another call came through, and not for what else was wrong', () => {
    const edge = online();
    edge.give({ kind: 'needs', needs: { ...nothing, journal: true } });
    edge.fail('feed', 'unreachable');
    expect(edge.ok('journal')).toEqual(['feed']);
    edge.give({ kind: 'needs', needs: { ...nothing, journal: true } });
    edge.fail('feed', 'cloud-fault');
    expect(edge.ok('journal')).toEqual([]);
  });

  it('stops waiting when the network comes back', () => {
    const edge = online();
    edge.fail('feed', 'dns');
    expect(edge.give({ kind: 'link-up' })).toEqual(['feed']);
  });

  it('waits at least as long as it was asked to', () => {
    const edge = online();
    edge.fail('feed', 'busy', 7_000);
    expect(edge.wakeInMs()).toBeGreaterThanOrEqual(7_000);
  });

  it('sends half as much when it was too much, at once, and more again when that went well', () => {
    const edge = online();
    edge.give({ kind: 'needs', needs: { ...nothing, journal: true } });
    edge.fail('journal', 'too-large');
    edge.pass(50);
    expect(edge.entries()).toBe(uploadEntriesMax / 2);
    edge.ok('journal', { journal: true });
    expect(edge.entries()).toBe(uploadEntriesMax / 2 + 16);
  });

  it('never sends nothing', () => {
    const edge = online();
    edge.give({ kind: 'needs', needs: { ...nothing, journal: true } });
    for (let time = 0; time < 20; time += 1) {
      edge.fail('journal', 'too-large');
      edge.pass(60_000);
    }
    expect(edge.entries()).toBe(1);
  });

  it('asks for the time when its own is said to be wrong', () => {
    expect(online().fail('feed', 'clock-skewed')).toEqual(['time']);
  });

  it('sends no history once it is revoked, goes on asking, and sends it again when it is heard', () => {
    const edge = online();
    edge.fail('feed', 'revoked');
    expect(edge.wakeInMs()).toBeGreaterThanOrEqual(30_000);
    expect(edge.give({ kind: 'needs', needs: { ...nothing, journal: true } })).toEqual([]);
    expect(edge.pass(60_000)).toEqual(['feed']);
    edge.pass(1_000);
    expect(edge.ok('feed', { journal: true })).toEqual(['feed', 'journal']);
  });
});

describe('what is told of the uplink', () => {
  it.each([
    'dns',
    'unreachable',
    'tls',
    'captive-portal',
    'clock-skewed',
    'unauthorized',
    'revoked',
    'busy',
    'cloud-fault',
    'malformed',
  ] as const)('names %s, since when and how often', (why) => {
    const edge = online();
    expect(edge.uplink()).toEqual({ kind: 'online' });
    edge.fail('feed', why);
    edge.pass(60_000);
    edge.fail('feed', why);
    expect(edge.uplink()).toEqual({ kind: 'failing', why, since: 1_000, failures: 2 });
  });

  it.each(['conflict', 'too-large', 'door-away'] as const)('does not blame the uplink for %s', (why) => {
    const edge = online();
    edge.fail('feed', why);
    expect(edge.uplink()).toEqual({ kind: 'online' });
  });

  it('is starting until a call came through', () => {
    const edge = drive();
    edge.give({ kind: 'tick' });
    expect(edge.uplink()).toEqual({ kind: 'starting' });
  });
});

describe('the wait', () => {
  it('is anything up to the ceiling, and never nothing', () => {
    expect(backOffMs(1, 0)).toBe(50);
    expect(backOffMs(4, 0.25)).toBe(2_000);
    expect(backOffMs(1_000, 0.999)).toBeLessThanOrEqual(60_000);
  });
});
