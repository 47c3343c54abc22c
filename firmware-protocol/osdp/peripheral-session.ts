/**
 * The reader's own side of the line: one command in, one reply out.
 *
 * A pure machine. Guarantees: a repeated command is answered with the same bytes and not carried out twice; sequence 0
 * ends the session and the memory of the last command; in a session nothing is carried out without a good MAC; no session
 * stands under a key everybody knows, except the public one in install mode; eight seconds of silence end the session.
 * Not promised: that an event is delivered to a panel that never polls; the oldest give way.
 */

import { capabilitiesCommand } from './command/capabilities.ts';
import { idCommand } from './command/id.ts';
import { pollCommand } from './command/poll.ts';
import { setKeyCommand } from './command/set-key.ts';
import { broadcastAddress, carriesMac, encodeFrame, type Frame, type SecurityBlock } from './frame.ts';
import { encodeReply, type Reply } from './message.ts';
import { nextSequence } from './panel-exchange.ts';
import { answerChallenge, answerProof, openCommand } from './peripheral-channel.ts';
import { execute, refuse } from './peripheral-command.ts';
import type { PeripheralEffect, PeripheralInput, Presentable } from './peripheral-port.ts';
import { forgetConversation, type PeripheralState, type PeripheralStep } from './peripheral-state.ts';
import { nakReason } from './reply/nak.ts';
import { encryptData, isSameSecret, messageMac } from './secure-channel.ts';

/** Events that wait for a POLL at the most. */
export const eventsLimit = 32;
const silenceMs = 8_000;

export function stepPeripheralSession(state: PeripheralState, input: PeripheralInput): PeripheralStep {
  switch (input.kind) {
    case 'frame':
      return takeFrame(state, input);
    case 'present':
      return present(state, input.reply);
    case 'tick':
      return endOnSilence(state, input.at);
  }
}

function endOnSilence(state: PeripheralState, at: number): PeripheralStep {
  const isSilent = at - state.lastHeardAt >= (state.config.silenceMs ?? silenceMs);
  if (!isSilent || (state.channel === undefined && state.last === undefined)) return { state, effects: [] };
  return { state: forgetConversation(state), effects: [{ kind: 'session', state: 'silent' }] };
}

/** Status is remembered for questions too. */
function present(state: PeripheralState, reply: Presentable): PeripheralStep {
  const isFull = state.events.length >= eventsLimit;
  const events = [...(isFull ? state.events.slice(1) : state.events), reply];
  const eventsLost = state.eventsLost + Number(isFull);
  const next = { ...state, events, eventsLost, status: remember(state.status, reply) };
  return { state: next, effects: isFull ? [{ kind: 'event-lost', lost: eventsLost }] : [] };
}

function remember(status: PeripheralState['status'], reply: Presentable): PeripheralState['status'] {
  if (reply.kind === 'local-status') return { ...status, local: reply };
  if (reply.kind === 'input-status') return { ...status, inputs: reply };
  return reply.kind === 'reader-status' ? { ...status, readers: reply } : status;
}

type FrameInput = Extract<PeripheralInput, { readonly kind: 'frame' }>;

function takeFrame(before: PeripheralState, input: FrameInput): PeripheralStep {
  const { frame, at } = input;
  const isForUs = !frame.isReply && (frame.address === before.address || frame.address === broadcastAddress);
  if (!isForUs) return { state: before, effects: [] };
  const quiet = endOnSilence(before, at);
  const { last } = quiet.state;
  // A repeat shows that the answer did not arrive: no good exchange, and nothing to do twice.
  if (last !== undefined && isSameSecret(last.command, frame.bytes)) {
    return { state: quiet.state, effects: [...quiet.effects, { kind: 'transmit', bytes: last.reply }] };
  }
  const state = { ...quiet.state, lastHeardAt: at };
  const step = frame.sequence === 0 ? begin(state, input) : goOn(state, input);
  return { state: step.state, effects: [...quiet.effects, ...step.effects] };
}

/** A conversation from its beginning. */
function begin(state: PeripheralState, input: FrameInput): PeripheralStep {
  const step = judgeSecurity(forgetConversation(state), input);
  const ended: PeripheralEffect[] = state.channel === undefined ? [] : [{ kind: 'session', state: 'ended' }];
  return { state: step.state, effects: [...ended, ...step.effects] };
}

function goOn(state: PeripheralState, input: FrameInput): PeripheralStep {
  if (state.sequence === undefined) return denySequence(state, input.frame);
  // A session that silence has ended is denied as a session, whatever the sequence.
  const isOrphaned = state.channel === undefined && carriesMac(input.frame.security);
  const isNext = input.frame.sequence === nextSequence(state.sequence);
  if (!isNext && !isOrphaned) return denySequence(state, input.frame);
  const isIntruding = state.channel !== undefined && input.frame.security === undefined;
  // Somebody speaks in plain into a session: refused without touching it.
  if (isIntruding) return sayPlain(state, input.frame, refuse(state, nakReason.securityRequired), false);
  return judgeSecurity(state, input);
}

/** Sequence 0 in the answer says that the conversation is lost and should begin anew. */
function denySequence(state: PeripheralState, frame: Frame): PeripheralStep {
  const denied = refuse(state, nakReason.badSequence);
  const bytes = encode(state, { ...frame, sequence: 0 }, denied.reply, undefined);
  return { state, effects: [...denied.effects, { kind: 'transmit', bytes }] };
}

interface Spoken {
  readonly reply: Reply;
  readonly state: PeripheralState;
  readonly effects: readonly PeripheralEffect[];
  readonly security?: SecurityBlock;
}

function judgeSecurity(state: PeripheralState, input: FrameInput): PeripheralStep {
  const { frame, at, entropy } = input;
  const type = frame.security?.type;
  if (type === undefined) return sayPlain(state, frame, executePlain(state, at, frame), true);
  if (type === 0x11) return sayPlain(state, frame, answerChallenge(state, frame, entropy), true);
  if (type === 0x13) return sayPlain(state, frame, answerProof(state, frame), true);
  const opened = openCommand(state, frame);
  if (opened.kind === 'refused') {
    const denied = refuse({ ...state, channel: undefined }, nakReason.securityRequired);
    return sayPlain(denied.state, frame, denied, true);
  }
  return saySecured(state, frame, execute(state, at, frame.code, opened.data), opened.commandMac);
}

const alwaysPlain: readonly number[] = [idCommand.code, capabilitiesCommand.code];

function executePlain(state: PeripheralState, at: number, frame: Frame): Spoken {
  const isAllowed = !state.config.requireSecure || alwaysPlain.includes(frame.code);
  return isAllowed ? execute(state, at, frame.code, frame.data) : refuse(state, nakReason.securityRequired);
}

/** @param isKept whether the command takes part in sequence and repeats. */
function sayPlain(before: PeripheralState, frame: Frame, spoken: Spoken, isKept: boolean): PeripheralStep {
  const bytes = encode(before, frame, spoken.reply, spoken.security);
  const transmit: PeripheralEffect = { kind: 'transmit', bytes };
  const state = isKept
    ? { ...spoken.state, sequence: frame.sequence, last: { command: frame.bytes, reply: bytes } }
    : spoken.state;
  return { state, effects: [...spoken.effects, transmit] };
}

const statusKinds: readonly Reply['kind'][] = ['local-status', 'input-status', 'output-status', 'reader-status'];

function saySecured(before: PeripheralState, frame: Frame, spoken: Spoken, commandMac: Uint8Array): PeripheralStep {
  const { channel, config } = before;
  if (channel === undefined) return sayPlain(before, frame, spoken, true);
  const { code, data } = encodeReply(spoken.reply);
  const isAsked = frame.code !== pollCommand.code && statusKinds.includes(spoken.reply.kind);
  const isReadable = config.hasReadableStatus === true && isAsked;
  const isEncrypted = data.length > 0 && !isReadable;
  const type = isReadable ? 0x15 : isEncrypted ? 0x18 : 0x16;
  let lastReplyMac = channel.lastReplyMac;
  const bytes = encodeFrame(
    {
      address: frame.address,
      isReply: true,
      sequence: frame.sequence,
      check: config.check ?? frame.check,
      security: { type, data: new Uint8Array(0) },
      code,
      data: isEncrypted ? encryptData(channel.keys, commandMac, data) : data,
    },
    (covered) => {
      lastReplyMac = messageMac(channel.keys, commandMac, covered);
      return lastReplyMac;
    },
  );
  // After a new key only a handshake with it may follow.
  const isOver = frame.code === setKeyCommand.code && spoken.reply.kind === 'ack';
  const state: PeripheralState = {
    ...spoken.state,
    channel: isOver ? undefined : { ...channel, lastReplyMac },
    sequence: frame.sequence,
    last: { command: frame.bytes, reply: bytes },
  };
  const ended: PeripheralEffect[] = isOver ? [{ kind: 'session', state: 'ended' }] : [];
  return { state, effects: [...spoken.effects, { kind: 'transmit', bytes }, ...ended] };
}

function encode(state: PeripheralState, frame: Frame, reply: Reply, security: SecurityBlock | undefined): Uint8Array {
  const { code, data } = encodeReply(reply);
  const check = state.config.check ?? frame.check;
  return encodeFrame({ address: frame.address, isReply: true, sequence: frame.sequence, check, security, code, data });
}
