/**
 * A command that got no answer, or one that only asks for patience: when the same bytes go out again, and when not.
 */
import { missProbe } from './panel-connect.ts';
import type { PanelLink } from './panel-exchange.ts';
import { missKeyAnswer } from './panel-keys.ts';
import { fallSilent, restart } from './panel-restart.ts';
import { andThen, move, type OpenExchange, type PanelState, type PanelStep, raise, sayOffline } from './panel-state.ts';
import { busyDelay, busyLimit, connectTries, repeatDelay } from './panel-timing.ts';

/** Nothing usable came. */
export function miss(state: PanelState, exchange: OpenExchange): PanelStep {
  const missed: OpenExchange = { ...exchange, misses: exchange.misses + 1 };
  const next = { ...state, exchange: missed };
  return state.stage.kind === 'probe' ? missProbe(next, exchange.sentAt) : repeatLater(next, missed);
}

/** The reader got the command damaged: the same bytes again. */
export function resend(state: PanelState, exchange: OpenExchange): PanelStep {
  return repeatLater(state, { ...exchange, badChecks: exchange.badChecks + 1 });
}

function repeatLater(state: PanelState, exchange: OpenExchange): PanelStep {
  const failed = exchange.misses + exchange.badChecks;
  if (state.stage.kind !== 'up' && failed >= connectTries) return giveUp(state, exchange.sentAt);
  return move(state, { exchange, notBefore: exchange.sentAt + repeatDelay(failed) });
}

const silentChallengesLimit = 3;

/** A connection under way is given up and begun anew; a reader that ignores only challenges is being kept from them. */
function giveUp(state: PanelState, sentAt: number): PanelStep {
  if (state.stage.kind === 'set-key') {
    return andThen(missKeyAnswer(state), (next) => giveUpConnection(next, sentAt));
  }
  return giveUpConnection(state, sentAt);
}

function giveUpConnection(state: PanelState, sentAt: number): PanelStep {
  if (state.status?.kind === 'online') return fallSilent(state, sentAt);
  const silentChallenges = state.stage.kind === 'challenge' ? state.silentChallenges + 1 : state.silentChallenges;
  const ended = missProbe({ ...state, silentChallenges }, sentAt);
  if (silentChallenges < silentChallengesLimit) return ended;
  const alarmed = andThen(ended, (next) => raise(next, sentAt, 'DEVICE_SECURITY_LOST', 'handshake-unanswered'));
  return andThen(alarmed, (next) => sayOffline(next, 'security-required'));
}

/** BUSY outside sequence and chain: the same bytes again, later, but not for ever. */
export function wait(state: PanelState, exchange: OpenExchange, at: number): PanelStep {
  const busies = exchange.busies + 1;
  const next = { ...state, exchange: { ...exchange, busies }, lastGoodAt: at };
  return busies >= busyLimit
    ? restart(next, at, 'protocol-fault', true)
    : move(next, { notBefore: at + busyDelay(busies) });
}

/** BUSY inside the session is an answer: the command is asked again as a new one. */
export function askAnew(state: PanelState, exchange: OpenExchange, at: number, link: PanelLink): PanelStep {
  const busyAnswers = state.busyAnswers + 1;
  const { command } = exchange;
  const queue = command === undefined ? state.queue : [command, ...state.queue];
  const next = { ...state, link, queue, busyAnswers };
  return busyAnswers >= busyLimit
    ? restart(next, at, 'protocol-fault', false)
    : move(next, { notBefore: at + busyDelay(busyAnswers) });
}
