/**
 * The lock's side of the link: handshakes answered, commands carried out once and in time, and what is told back.
 *
 * A pure machine. Guarantees: nothing is carried out but a new command of a proven session that has not expired; a session
 * is proven by a record that only the other party of its own handshake can make; the session before it counts until then
 * and not after; a restart forgets every session, so that nothing sent before it can act after it. Not promised: that
 * anything told arrives.
 */
import { openRecord } from './channel.ts';
import { answerHello } from './lock-handshake.ts';
import type { LockDrop, LockEffect, LockInput } from './lock-port.ts';
import { acknowledge, answerQuestion, refuseQuestion, tell } from './lock-speech.ts';
import type { LockSession, LockState, LockStep } from './lock-state.ts';
import { decodeMessage, type MessageDecoding } from './message.ts';
import { answerOnce, beginOnce } from './once-only.ts';
import { decodePacket, encodeRefusal, type Packet } from './packet.ts';
import { questions, type ToLock, toLock } from './to-lock.ts';

/** @throws RangeError for something to tell that no message can carry. */
export function stepLockSession(state: LockState, input: LockInput): LockStep {
  switch (input.kind) {
    case 'packet':
      return takePacket(state, input);
    case 'done':
      return finish(state, input);
    case 'answer':
      return answerQuestion(state, input.at, input.ticket, input.answer);
    case 'refuse':
      return refuseQuestion(state, input.at, input.ticket, input.result);
    case 'tell':
      return tell(state, input.at, input.message);
    case 'keys':
      return { state: { ...state, key: input.key, candidate: input.candidate }, effects: [] };
  }
}

const drop = (state: LockState, reason: LockDrop): LockStep => ({ state, effects: [{ kind: 'dropped', reason }] });

const andThen = (step: LockStep, next: (state: LockState) => LockStep): LockStep => {
  const { state, effects } = next(step.state);
  return { state, effects: [...step.effects, ...effects] };
};

function takePacket(state: LockState, input: Extract<LockInput, { readonly kind: 'packet' }>): LockStep {
  const packet = decodePacket(input.bytes);
  switch (packet?.kind) {
    case undefined:
      return drop(state, 'no-packet');
    case 'hello':
      return answerHello(state, input.at, packet.noise, input.entropy);
    case 'record':
      return takeRecord(state, input.at, packet);
    case 'welcome':
    case 'refusal':
      return drop(state, 'not-for-locks');
  }
}

type RecordPacket = Extract<Packet, { readonly kind: 'record' }>;

/** The pending session is tried first: its first record ends the other. */
function takeRecord(state: LockState, at: number, packet: RecordPacket): LockStep {
  const proof = state.pending && openRecord(state.pending.channel, packet);
  if (state.pending !== undefined && proof?.kind === 'opened') {
    const proven = prove(state, { ...state.pending, channel: proof.channel });
    return andThen(proven, (next) => takeMessage(next, at, proof.clear));
  }
  const opening = state.current && openRecord(state.current.channel, packet);
  if (state.current !== undefined && opening?.kind === 'opened') {
    const current: LockSession = { ...state.current, channel: opening.channel };
    return takeMessage({ ...state, current }, at, opening.clear);
  }
  if (opening?.kind === 'refused' && opening.reason === 'old') return drop(state, 'old');
  const refusal: LockEffect = { kind: 'transmit', bytes: encodeRefusal('no-session') };
  return { state, effects: [{ kind: 'dropped', reason: 'no-session' }, refusal] };
}

function prove(state: LockState, session: LockSession): LockStep {
  const proven: LockState = { ...state, current: session, pending: undefined };
  const begun: LockEffect = { kind: 'session', session: session.number };
  const { candidate } = state;
  if (!session.isUnderCandidate || candidate === undefined) return { state: proven, effects: [begun] };
  const confirmed: LockEffect = { kind: 'key-confirmed', key: candidate };
  return { state: { ...proven, key: candidate, candidate: undefined }, effects: [begun, confirmed] };
}

function takeMessage(state: LockState, at: number, clear: Uint8Array): LockStep {
  const decoding = decodeMessage(toLock, clear);
  if (decoding.kind === 'refused') return refuseMessage(state, at, decoding);
  const { message } = decoding;
  return questions.includes(message.kind) ? ask(state, at, message) : begin(state, at, message);
}

/** A command that is not understood is not carried out, and said so where its number can be read. */
function refuseMessage(
  state: LockState,
  at: number,
  { map }: Extract<MessageDecoding<ToLock>, { readonly kind: 'refused' }>,
): LockStep {
  const request = map?.get(1);
  const isNumber = typeof request === 'number' && request >= 1 && request <= 0xffff_ffff;
  const dropped = drop(state, 'malformed');
  if (!isNumber) return dropped;
  return andThen(dropped, (next) => acknowledge(next, at, { request, result: 'unsupported', isRepeated: false }));
}

function ask(state: LockState, at: number, question: ToLock): LockStep {
  const { request, notAfterUptime } = question;
  if (at > notAfterUptime) return acknowledge(state, at, { request, result: 'expired', isRepeated: false });
  const ticket = { session: state.current?.number ?? 0, request };
  return { state, effects: [{ kind: 'ask', ticket, question }] };
}

function begin(state: LockState, at: number, command: ToLock): LockStep {
  const { current } = state;
  if (current === undefined) return drop(state, 'no-session');
  const { request } = command;
  const standing = beginOnce(current.table, request);
  switch (standing.kind) {
    case 'begun':
      return drop(state, 'repeated');
    case 'answered':
      return andThen(drop(state, 'repeated'), (next) =>
        acknowledge(next, at, { request, result: standing.result, isRepeated: true }),
      );
    case 'too-old':
      return drop(state, 'too-old');
    case 'new': {
      const begun = { ...state, current: { ...current, table: standing.table } };
      const ticket = { session: current.number, request };
      if (at > command.notAfterUptime) return finish(begun, { at, ticket, result: 'expired' });
      return { state: begun, effects: [{ kind: 'execute', ticket, command }] };
    }
  }
}

function finish(state: LockState, input: Omit<Extract<LockInput, { readonly kind: 'done' }>, 'kind'>): LockStep {
  const { current } = state;
  const { at, ticket, result } = input;
  const { request } = ticket;
  const table = current?.number === ticket.session ? answerOnce(current.table, request, result) : undefined;
  if (current === undefined || table === undefined) return { state, effects: [{ kind: 'untold' }] };
  return acknowledge({ ...state, current: { ...current, table } }, at, { request, result, isRepeated: false });
}
