/**
 * The panel's side of one reader: who it is, whether it may be believed, and one exchange at a time.
 *
 * A pure machine: it is given turns on the line, frames and time, and answers with bytes and facts. Guarantees: a reader
 * with a key is never spoken to in plain except for identity, capabilities and handshake; nothing makes it fall back to
 * plain speech or to the public key; an event is reported once and only from the channel the reader is on line with; a
 * command is sent at most once as a command and never after its deadline; after any fault it is either on line again or
 * says why not. Not promised: that a command of unknown outcome was not carried out.
 *
 * One reader's trouble changes nothing at its neighbours: they have sessions of their own.
 */
import { encodeCommand } from './message.ts';
import { takeCapabilities, takeIdentity, takeProbeAnswer } from './panel-connect.ts';
import { takeChallengeAnswer, takeKeyAnswer, takeProofAnswer } from './panel-handshake.ts';
import { takeInquiryAnswer } from './panel-inquiry.ts';
import { closeInstall, expireInstall, offerRekey, openInstall } from './panel-keys.ts';
import { takeAnswer } from './panel-online.ts';
import type { CommandOutcome, PanelEffect, PanelInput } from './panel-port.ts';
import { askAnew, miss, resend, wait } from './panel-repeat.ts';
import { hangUp, restart } from './panel-restart.ts';
import { andThen, move, type OpenExchange, type PanelState, type PanelStep, raise, sayOffline } from './panel-state.ts';
import { takeTurn } from './panel-turn.ts';
import { type Answer, judgeReply, type Verdict } from './panel-verdict.ts';
import { busyReply } from './reply/busy.ts';

/** Commands that may wait at once. */
export const queueLimit = 8;

/** @throws RangeError for a command that no frame can carry. */
export function stepPanelSession(state: PanelState, input: PanelInput): PanelStep {
  return andThen(expireInstall(state, input.at), (next) => dispatch(next, input));
}

function dispatch(state: PanelState, input: PanelInput): PanelStep {
  switch (input.kind) {
    case 'turn':
      return takeTurn(state, input.at, input.entropy);
    case 'reply':
      return takeReply(state, input);
    case 'no-reply':
      return state.exchange === undefined ? move(state, {}) : miss(state, state.exchange);
    case 'command':
      return takeCommand(state, input);
    case 'open-install':
      return openInstall(state, input.at, input.until, input.key);
    case 'close-install':
      return closeInstall(state, 'closed');
    case 'rekey':
      return offerRekey(state, input.key);
    case 'line-down':
      return andThen(hangUp(state), (next) => sayOffline({ ...next, notBefore: input.at }, 'line-down'));
  }
}

function takeCommand(state: PanelState, input: Extract<PanelInput, { kind: 'command' }>): PanelStep {
  const done = (outcome: CommandOutcome): PanelEffect => ({ kind: 'command-done', id: input.id, outcome });
  const refuse = (reason: 'offline' | 'expired' | 'busy'): PanelStep =>
    move(state, {}, done({ kind: 'not-executed', reason }));
  if (state.status?.kind !== 'online') return refuse('offline');
  if (input.at >= input.deadline) return refuse('expired');
  if (state.queue.length >= queueLimit) return refuse('busy');
  const { code, data } = encodeCommand(input.command);
  return move(state, { queue: [...state.queue, { id: input.id, code, data, deadline: input.deadline }] });
}

function takeReply(state: PanelState, input: Extract<PanelInput, { kind: 'reply' }>): PanelStep {
  const { exchange } = state;
  if (exchange === undefined) return move(state, {});
  const verdict = judgeReply(state.link, exchange, exchange.transmissions, input.frame);
  return judge(state, exchange, input.at, verdict);
}

function judge(state: PanelState, exchange: OpenExchange, at: number, verdict: Verdict): PanelStep {
  switch (verdict.kind) {
    case 'miss':
      return miss(state, exchange);
    case 'busy':
      return wait(state, exchange, at);
    case 'bad-check':
      return resend(state, exchange);
    case 'restart-wanted':
    case 'session-refused':
      return restart(state, at, 'protocol-fault', true);
    case 'forged':
      return andThen(raise(state, at, 'DEVICE_MESSAGE_FORGED', `wrong-${verdict.detail}`), (next) =>
        restart(next, at, 'protocol-fault', true),
      );
    case 'unprotected':
      return andThen(raise(state, at, 'DEVICE_SECURITY_LOST', 'plain-reply-in-session'), (next) =>
        restart(next, at, 'protocol-fault', true),
      );
    case 'malformed':
      return restart(state, at, 'protocol-fault', false);
    case 'answer':
      return settle({ ...state, exchange: undefined, lastGoodAt: at, notBefore: at }, exchange, at, verdict);
  }
}

function settle(before: PanelState, exchange: OpenExchange, at: number, answer: Answer): PanelStep {
  if (answer.code === busyReply.code) return askAnew(before, exchange, at, answer.link);
  const state = { ...before, busyAnswers: 0 };
  const { stage } = state;
  switch (stage.kind) {
    case 'probe':
      return takeProbeAnswer(state, at, answer);
    case 'identify':
      return takeIdentity(state, at, answer);
    case 'capabilities':
      return takeCapabilities(state, at, answer);
    case 'challenge':
      return takeChallengeAnswer(state, at, stage, answer);
    case 'prove':
      return takeProofAnswer(state, at, stage, answer);
    case 'set-key':
      return takeKeyAnswer(state, at, answer);
    case 'inquire':
      return takeInquiryAnswer(state, at, stage, answer);
    case 'up':
      return takeAnswer(state, at, stage, { ...exchange, answer });
  }
}
