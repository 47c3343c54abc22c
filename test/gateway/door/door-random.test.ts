import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { DoorCommand, DoorEffect, DoorInput } from '#gateway/door/door-input.ts';
import { stepDoor } from '#gateway/door/door-machine.ts';
import { createDoor, type DoorState, modeOf } from '#gateway/door/door-state.ts';
import { nextDeadline, statusKindOf } from '#gateway/door/door-status.ts';
import { monoMs } from '#shared/instant.ts';
import { frontDoor, grantOf, ioDevice, request } from './door-bench.ts';

const full = process.env['KANNUKI_FULL'] === '1';
vi.setConfig({ testTimeout: 600_000 });

const level = fc.constantFrom('inactive', 'active', 'short', 'cut', 'fault', 'unknown');
const id = fc.integer({ min: 0, max: 40 }).map((number) => request(`r-${number}`));
const ownId = fc.integer({ min: 1, max: 40 }).map((number) => request(`own.${number}`));
const command: fc.Arbitrary<DoorCommand> = fc.oneof(
  fc.constantFrom<DoorCommand>({ kind: 'release' }, { kind: 'release', ms: 300 }, { kind: 'secure' }),
  fc
    .constantFrom('controlled' as const, 'free' as const, 'lockdown' as const)
    .map((mode) => ({ kind: 'mode', mode }) as const),
);
const result = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'done' as const }) },
  fc.constantFrom('refused' as const, 'not-executed' as const).map((kind) => ({ kind, reason: 'told' })),
  fc.constant({ kind: 'unknown' as const }),
);

type Timeless = DoorInput extends infer Input ? (Input extends unknown ? Omit<Input, 'at'> : never) : never;

/** `answer` answers the oldest command that is awaited: most commands are. */
type Move = { readonly afterMs: number; readonly input: Timeless | { readonly kind: 'answer'; readonly how: object } };

const input: fc.Arbitrary<Move['input']> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('answer' as const), how: result }) },
  {
    weight: 3,
    arbitrary: fc.record({ id, overrides: fc.boolean() }).map(({ id: requestId, overrides }) => ({
      kind: 'granted' as const,
      decision: grantOf(requestId, { flags: overrides ? ['lockdown_override'] : [] }),
    })),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('command' as const), requestId: id, command }) },
  fc.record({ kind: fc.constant('result' as const), requestId: fc.oneof(id, ownId), result }) as fc.Arbitrary<Timeless>,
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('contact' as const, 'rex' as const), level }) },
  fc.record({ kind: fc.constant('fire' as const), level }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('output' as const), isActive: fc.boolean() }) },
  fc.record({ kind: fc.constant('device' as const), device: fc.constant(ioDevice), isUp: fc.boolean() }),
  fc.record({ kind: fc.constant('free-schedule' as const), isInside: fc.boolean() }),
  fc.constant({ kind: 'tick' as const }),
);
const pause = fc.oneof(fc.constantFrom(0, 1, 49, 50, 1_000, 5_000, 6_000), fc.integer({ min: 0, max: 70_000 }));
const moves: fc.Arbitrary<readonly Move[]> = fc.array(fc.record({ afterMs: pause, input }), {
  minLength: 5,
  maxLength: 60,
});
const doorKind = fc.record({
  contact: fc.constantFrom(frontDoor.contact, null),
  lock: fc.constantFrom(frontDoor.lock, frontDoor.lock, null),
  rexReleases: fc.boolean(),
  relockOnOpen: fc.boolean(),
  debounceMs: fc.constantFrom(0, 50),
});
const startMode = fc.constantFrom('controlled' as const, 'free' as const, 'lockdown' as const);

interface Stepped {
  readonly before: DoorState;
  readonly input: DoorInput;
  readonly after: DoorState;
  readonly effects: readonly DoorEffect[];
}

/** Runs the moves, ticking at each deadline between them and for an hour after. */
function run(row: Partial<DoorState['row']>, mode: DoorState['mode']['commanded'], script: readonly Move[]): Stepped[] {
  let state = createDoor(
    { ...frontDoor, ...row },
    { at: monoMs(0), commandedMode: mode, hasDeviceTimer: true, ownIdPrefix: 'own' },
  );
  let at = 0;
  const steps: Stepped[] = [];
  const step = (taken: DoorInput) => {
    const { state: after, effects } = stepDoor(freeze(state), taken);
    steps.push({ before: state, input: taken, after, effects });
    state = after;
  };
  const pass = (ms: number) => {
    const end = at + ms;
    for (let ticks = 0; ; ticks += 1) {
      expect(ticks).toBeLessThan(1_000);
      const due = nextDeadline(state);
      if (due === undefined || due > end) break;
      at = due;
      step({ kind: 'tick', at: due });
    }
    at = end;
  };
  for (const { afterMs, input: move } of script) {
    pass(afterMs);
    const awaited = state.lock.awaited[0];
    const timeless =
      move.kind === 'answer'
        ? awaited === undefined
          ? { kind: 'tick' }
          : { kind: 'result', requestId: awaited.requestId, result: move.how }
        : move;
    step({ ...timeless, at: monoMs(at) } as DoorInput);
  }
  pass(3_600_000);
  return steps;
}

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freeze(member);
  }
  return value;
}

const lockCommands = new Set(['release', 'secure', 'free']);

/** @param check sees every run of a random door under random inputs; fast-check prints the seed of a failure. */
function always(check: (steps: readonly Stepped[]) => void): void {
  fc.assert(
    fc.property(doorKind, startMode, moves, (row, mode, script) => check(run(row, mode, script))),
    { numRuns: full ? 5_000 : 250 },
  );
}

describe('whatever happens to a door', () => {
  it('no request is released twice', () => {
    always((steps) => {
      const released = steps.flatMap(({ effects }) =>
        effects.flatMap((effect) => (effect.kind === 'release' ? [effect.requestId] : [])),
      );
      expect(new Set(released).size).toBe(released.length);
    });
  });

  it('no command id is used twice', () => {
    always((steps) => {
      const own = steps.flatMap(({ effects }) =>
        effects.flatMap((effect) => ('requestId' in effect && lockCommands.has(effect.kind) ? [effect.requestId] : [])),
      );
      const secures = own.filter((requestId) => requestId?.startsWith('own.'));
      expect(new Set(secures).size).toBe(secures.length);
    });
  });

  it('nothing is commanded during a fire, and in lockdown only an override releases', () => {
    always((steps) => {
      for (const { after, input: taken, effects } of steps) {
        const mode = modeOf(after.mode);
        const commands = effects.filter(({ kind }) => lockCommands.has(kind));
        if (mode === 'fire') expect(commands).toEqual([]);
        if (mode === 'lockdown' && commands.some(({ kind }) => kind === 'release')) {
          expect(taken.kind === 'granted' && taken.decision.flags.includes('lockdown_override')).toBe(true);
        }
        if (mode === 'lockdown') expect(commands.some(({ kind }) => kind === 'free')).toBe(false);
      }
    });
  });

  it('a release comes from a grant, a command or an exit button set to release, in the same step', () => {
    always((steps) => {
      for (const { before, input: taken, effects } of steps) {
        for (const effect of effects) {
          if (effect.kind !== 'release') continue;
          const isGranted = taken.kind === 'granted' && taken.decision.requestId === effect.requestId;
          const isCommanded = taken.kind === 'command' && taken.requestId === effect.requestId;
          const isExit = taken.kind === 'rex' && before.row.rexReleases;
          expect(isGranted || isCommanded || isExit).toBe(true);
        }
      }
    });
  });

  it('nothing is sent to a device that is away', () => {
    always((steps) => {
      for (const { after, effects } of steps) {
        if (!after.lock.isUp) expect(effects.filter(({ kind }) => lockCommands.has(kind))).toEqual([]);
      }
    });
  });

  it('an opening is forced only where nothing excused it', () => {
    always((steps) => {
      for (const { before, effects } of steps) {
        if (
          !effects.some(
            (effect) => effect.kind === 'alarm' && effect.code === 'DOOR_FORCED' && effect.change === 'raise',
          )
        )
          continue;
        const mode = modeOf(before.mode);
        expect(mode === 'fire' || mode === 'free').toBe(false);
        expect(before.leaf.isRexActive).toBe(false);
        expect(before.lock.state.kind).not.toBe('none');
        const isPassable = before.lock.state.kind === 'released' && before.leaf.bouncing === undefined;
        const until = before.lock.state.kind === 'released' ? before.lock.state.until : 0;
        const isOurs = isPassable && before.leaf.leave !== undefined && before.at < until;
        expect(isOurs).toBe(false);
      }
    });
  });

  it('a device that goes away leaves the door unknown, with its last known state', () => {
    always((steps) => {
      for (const { before, input: taken, after } of steps) {
        if (taken.kind !== 'device' || taken.isUp) continue;
        if (before.row.lock === null && before.row.contact === null) continue;
        expect(after.status.kind).toBe('unknown');
        if (before.status.kind !== 'unknown') expect(after.status.lastKnown?.kind).toBe(before.status.kind);
      }
    });
  });

  it('secured means: device up, lock secured by its own word, leaf not open', () => {
    always((steps) => {
      for (const { after } of steps) {
        expect(after.status.kind).toBe(statusKindOf(after));
        if (after.status.kind !== 'secured') continue;
        expect(after.lock.isUp).toBe(true);
        expect(after.lock.state.kind).toBe('secured');
        expect(['closed', 'none']).toContain(after.leaf.state.kind);
      }
    });
  });

  it('every request that is granted or commanded to release has an entry after it within a minute', () => {
    always((steps) => {
      const told = new Map<string, boolean>();
      for (const { input: taken, effects } of steps) {
        if (taken.kind === 'granted') told.set(taken.decision.requestId, told.get(taken.decision.requestId) ?? false);
        if (taken.kind === 'command') told.set(taken.requestId, told.get(taken.requestId) ?? false);
        for (const effect of effects) {
          if (effect.kind === 'journal' && effect.entry.requestId !== null) told.set(effect.entry.requestId, true);
        }
      }
      expect([...told].filter(([, isTold]) => !isTold)).toEqual([]);
    });
  });

  it('alarms are raised and cleared in turn', () => {
    always((steps) => {
      const raised = new Set<string>();
      for (const effect of steps.flatMap(({ effects }) => effects)) {
        if (effect.kind !== 'alarm') continue;
        expect(raised.has(effect.code)).toBe(effect.change === 'clear');
        if (effect.change === 'raise') raised.add(effect.code);
        else raised.delete(effect.code);
      }
      expect([...raised].sort()).toEqual([...(steps.at(-1)?.after.raised ?? [])].sort());
    });
  });

  it('the machine comes to rest: an hour without inputs is a bounded number of steps', () => {
    always((steps) => {
      const last = steps.at(-1)?.after ?? expect.fail();
      expect(last.lock.awaited.length).toBeLessThanOrEqual(1);
      expect(last.story.handledIds.length).toBeLessThanOrEqual(64);
      expect(last.story.expected.length).toBeLessThanOrEqual(8);
    });
  });

  it('the same input in the same state gives the same answer', () => {
    always((steps) => {
      for (const { before, input: taken, after, effects } of steps) {
        expect(stepDoor(before, taken)).toEqual({ state: after, effects });
      }
    });
  });
});
