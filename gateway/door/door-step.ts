/**
 * One step under way: the next state as it takes shape, and the effects in the order in which they are wanted.
 *
 * Only `stepDoor` makes one and hands out its result; nothing of it is kept.
 */
import type { AlarmCode } from '#shared/code.ts';
import { identifier, type RequestId } from '#shared/identifier.ts';
import type { EntryDraft, EntryKind } from '../journal/entry.ts';
import type { DoorEffect } from './door-input.ts';
import type { DoorState } from './door-state.ts';

export type DoorStep = { -readonly [Part in keyof DoorState]: DoorState[Part] } & { readonly effects: DoorEffect[] };

/** The part of a step that alarms need; leaf and lock share it. */
export interface AlarmNote {
  readonly requestId?: RequestId | null;
  readonly detail?: string;
}

export function journal(step: DoorStep, kind: EntryKind, requestId: RequestId | null, body: EntryDraft['body']): void {
  step.effects.push({ kind: 'journal', entry: { kind, door: step.row.id, requestId, body } });
}

/** Raises once; a raised alarm stays until cleared. */
export function raise(step: DoorStep, code: AlarmCode, { requestId = null, detail }: AlarmNote = {}): void {
  if (step.raised.includes(code)) return;
  step.raised = [...step.raised, code];
  step.effects.push({ kind: 'alarm', change: 'raise', code, requestId, detail });
}

export function clear(step: DoorStep, code: AlarmCode): void {
  if (!step.raised.includes(code)) return;
  step.raised = step.raised.filter((raised) => raised !== code);
  step.effects.push({ kind: 'alarm', change: 'clear', code, requestId: null, detail: undefined });
}

/** An id for a command nobody asked for: a relock, the first secure after a start. */
export function nextOwnId(step: DoorStep): RequestId {
  step.ownIds += 1;
  return identifier<'request'>(`${step.start.ownIdPrefix}.${step.ownIds}`);
}
