/** A door machine on a bench: inputs by name and time, effects as short lines. */

import type { GrantedDecision } from '#gateway/door/decide-access.ts';
import type { GrantFlag } from '#gateway/door/decision.ts';
import type { DoorCommand, DoorEffect, DoorInput, LockResult } from '#gateway/door/door-input.ts';
import { stepDoor } from '#gateway/door/door-machine.ts';
import { createDoor, type DoorStart, type DoorState, type DoorStatusKind } from '#gateway/door/door-state.ts';
import { nextDeadline } from '#gateway/door/door-status.ts';
import type { InputLevel } from '#gateway/door/input-reading.ts';
import { type DoorRow, doorRow } from '#shared/contract/replica-row.ts';
import { identifier, type RequestId } from '#shared/identifier.ts';
import { monoMs } from '#shared/instant.ts';

type WithoutTime<Input> = Input extends unknown ? Omit<Input, 'at'> : never;

export const ioDevice = identifier<'device'>('io');
const point = (input: number, supervised = false) => ({ device: 'io', input, supervised });

export const frontDoor = doorRow.parse({
  id: 'front',
  name: 'Front',
  lock: { device: 'io', output: 0 },
  contact: point(0, true),
  rex: point(1),
  fire: point(2, true),
  version: 1,
});

export const request = (id: string): RequestId => identifier<'request'>(id);

export const grantOf = (id: string, change: Partial<GrantedDecision> = {}): GrantedDecision => ({
  verdict: 'granted',
  code: 'GRANTED',
  requestId: request(id),
  door: frontDoor.id,
  reader: undefined,
  credential: undefined,
  holder: undefined,
  grant: identifier('staff'),
  flags: [] as readonly GrantFlag[],
  releaseMs: 5_000,
  heldMs: 30_000,
  ...change,
});

/** One effect as a line: `release r-1 5000`, `door.opened r-1`, `raise DOOR_HELD`. */
function lineOf(effect: DoorEffect): string {
  switch (effect.kind) {
    case 'release':
      return `release ${effect.requestId} ${effect.ms}`;
    case 'secure':
    case 'free':
    case 'passed':
      return `${effect.kind} ${effect.requestId}`;
    case 'feedback':
      return `show ${effect.signal}`;
    case 'journal':
      return `${effect.entry.kind} ${effect.entry.requestId ?? '-'}`;
    case 'alarm':
      return `${effect.change} ${effect.code}`;
    case 'answer':
      return `answer ${effect.answer}`;
  }
}

export class DoorBench {
  state: DoorState;
  readonly effects: DoorEffect[] = [];
  #at = 0;

  constructor(row: Partial<DoorRow> = {}, start: Partial<DoorStart> = {}) {
    this.state = createDoor(
      { ...frontDoor, ...row },
      { at: monoMs(0), commandedMode: 'controlled', hasDeviceTimer: true, ownIdPrefix: 'own', ...start },
    );
  }

  /** A door whose device is up and reports it shut. */
  static shut(row: Partial<DoorRow> = {}, start: Partial<DoorStart> = {}): DoorBench {
    const bench = new DoorBench(row, start);
    bench.take({ kind: 'device', device: ioDevice, isUp: true });
    bench.take({ kind: 'fire', level: 'inactive' });
    bench.take({ kind: 'contact', level: 'inactive' });
    const isActive = bench.state.row.lock?.release === 'de-energise';
    bench.take({ kind: 'output', isActive });
    bench.effects.length = 0;
    return bench;
  }

  get status(): DoorStatusKind {
    return this.state.status.kind;
  }

  /** Steps and returns this step’s effects as lines. */
  take(input: WithoutTime<DoorInput>): readonly string[] {
    const { state, effects } = stepDoor(this.state, { ...input, at: monoMs(this.#at) } as DoorInput);
    this.state = state;
    this.effects.push(...effects);
    return effects.map(lineOf);
  }

  grant(id: string, change: Partial<GrantedDecision> = {}): readonly string[] {
    return this.take({ kind: 'granted', decision: grantOf(id, change) });
  }

  command(id: string, command: DoorCommand): readonly string[] {
    return this.take({ kind: 'command', requestId: request(id), command });
  }

  result(id: string, result: LockResult): readonly string[] {
    return this.take({ kind: 'result', requestId: request(id), result });
  }

  done(id: string): readonly string[] {
    return this.result(id, { kind: 'done' });
  }

  contact(level: InputLevel): readonly string[] {
    const lines = this.take({ kind: 'contact', level });
    return [...lines, ...this.pass(this.state.row.debounceMs)];
  }

  /** Lets time pass, ticking when the machine asks for it. */
  pass(ms: number): readonly string[] {
    const end = this.#at + ms;
    const lines: string[] = [];
    for (;;) {
      const due = nextDeadline(this.state);
      if (due === undefined || due > end) break;
      this.#at = due;
      lines.push(...this.take({ kind: 'tick' }));
    }
    this.#at = end;
    return lines;
  }

  /** Journal kinds so far, with their request ids. */
  get story(): readonly string[] {
    return this.effects.flatMap((effect) => (effect.kind === 'journal' ? [lineOf(effect)] : []));
  }

  /** The ids of own commands still awaited. */
  get awaited(): readonly RequestId[] {
    return this.state.lock.awaited.map(({ requestId }) => requestId);
  }

  /** Answers every awaited command. */
  doneAll(): readonly string[] {
    return this.awaited.flatMap((id) => this.done(id));
  }
}
