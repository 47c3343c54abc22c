/** What a lock says in its proven session; without one it says nothing. */
import { sealRecord } from './channel.ts';
import { type FromLock, fromLock, type Result } from './from-lock.ts';
import type { Answer, LockEffect, Tellable, Ticket } from './lock-port.ts';
import type { LockState, LockStep } from './lock-state.ts';
import { encodeMessage } from './message.ts';

function say(state: LockState, message: FromLock): LockStep {
  const { current } = state;
  if (current === undefined) return { state, effects: [{ kind: 'untold' }] };
  const { channel, bytes } = sealRecord(current.channel, encodeMessage(fromLock, message));
  const transmit: LockEffect = { kind: 'transmit', bytes };
  return { state: { ...state, current: { ...current, channel } }, effects: [transmit] };
}

/** @throws RangeError for a value that does not fit. */
export function tell(state: LockState, at: number, message: Tellable): LockStep {
  return say(state, { ...message, uptime: at });
}

/** Answers a question of the proven session; of another, nobody waits for it. */
export function answerQuestion(state: LockState, at: number, ticket: Ticket, answer: Answer): LockStep {
  if (state.current?.number !== ticket.session) return { state, effects: [{ kind: 'untold' }] };
  return say(state, { ...answer, uptime: at, request: ticket.request });
}

type Ack = Extract<FromLock, { readonly kind: 'ack' }>;

export function acknowledge(state: LockState, at: number, ack: Omit<Ack, 'kind' | 'uptime'>): LockStep {
  return say(state, { kind: 'ack', uptime: at, ...ack });
}

/** As an answer, to a question that has none. */
export function refuseQuestion(state: LockState, at: number, ticket: Ticket, result: Result): LockStep {
  if (state.current?.number !== ticket.session) return { state, effects: [{ kind: 'untold' }] };
  return acknowledge(state, at, { request: ticket.request, result, isRepeated: false });
}
