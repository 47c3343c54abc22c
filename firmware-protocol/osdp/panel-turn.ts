/**
 * What a reader's turn on the line is used for: a repeat, a new command, or nothing.
 *
 * Guarantees: a repeat has the same bytes and comes 200 ms after the last transmission at the earliest; a command whose
 * deadline has passed is not sent and not sent again; silence of the configured length makes the reader off line.
 */
import { openExchange } from './panel-exchange.ts';
import { sendKey } from './panel-keys.ts';
import type { PanelEffect } from './panel-port.ts';
import { nextRequest } from './panel-request.ts';
import { fallSilent, restart } from './panel-restart.ts';
import { andThen, move, type OpenExchange, type PanelState, type PanelStep, sayOffline } from './panel-state.ts';

export function takeTurn(state: PanelState, at: number, entropy: Uint8Array): PanelStep {
  const begun = state.status === undefined ? begin(state, at) : state;
  const watched = andThen(dropExpired(begun, at), (next) => watchSilence(next, at));
  return andThen(watched, (next) => {
    if (at < next.notBefore) return move(next, {}, { kind: 'skip', until: next.notBefore });
    return next.exchange === undefined ? sendNew(next, at, entropy) : sendAgain(next, next.exchange, at);
  });
}

function begin(state: PanelState, at: number): PanelState {
  return { ...state, status: { kind: 'connecting', since: at }, lastGoodAt: at };
}

/** Answers for queued commands whose time is over, and gives up a sent one with its conversation. */
function dropExpired(state: PanelState, at: number): PanelStep {
  const expired = state.queue.filter((command) => at >= command.deadline);
  const effects = expired.map(
    ({ id }): PanelEffect => ({ kind: 'command-done', id, outcome: { kind: 'not-executed', reason: 'expired' } }),
  );
  const dropped = move(state, { queue: state.queue.filter((command) => at < command.deadline) }, ...effects);
  const { exchange } = state;
  if (exchange?.command === undefined || at < exchange.command.deadline) return dropped;
  // Its sequence number may carry nothing else, so the conversation ends with it.
  return andThen(dropped, (next) => restart(next, at, exchange.misses > 0 ? 'silent' : 'protocol-fault', false));
}

function watchSilence(state: PanelState, at: number): PanelStep {
  const { offlineAfterMs } = state.settings;
  const isSilent = at - state.lastGoodAt >= offlineAfterMs;
  if (state.status?.kind === 'online') return isSilent ? fallSilent(state, at) : move(state, {});
  if (isSilent) return sayOffline(state, 'silent');
  const isStuck = state.status?.kind === 'connecting' && at - state.status.since >= offlineAfterMs;
  return isStuck ? sayOffline(state, 'protocol-fault') : move(state, {});
}

function sendNew(state: PanelState, at: number, entropy: Uint8Array): PanelStep {
  const wanted = state.stage.kind === 'up' && isKeyWanted(state) ? enterSetKey(state) : state;
  const { message, handshake, command, role } = nextRequest(wanted, entropy);
  const exchange: OpenExchange = {
    ...openExchange(wanted.link, message, handshake),
    command,
    transmissions: 1,
    misses: 0,
    badChecks: 0,
    busies: 0,
    sentAt: at,
  };
  const { stage, keys, queue } = wanted;
  const changes: Partial<PanelState> = {
    exchange,
    stage: stage.kind === 'challenge' ? { ...stage, nonce: entropy.slice() } : stage,
    keys: stage.kind === 'set-key' ? sendKey(keys) : keys,
    queue: command === undefined ? queue : queue.slice(1),
  };
  return move(wanted, changes, transmit(wanted, exchange, role));
}

const isKeyWanted = (state: PanelState): boolean =>
  state.keys.candidate !== undefined && state.link.channel !== undefined;

function enterSetKey(state: PanelState): PanelState {
  return { ...state, stage: { kind: 'set-key', isPublic: false } };
}

function sendAgain(state: PanelState, exchange: OpenExchange, at: number): PanelStep {
  const again: OpenExchange = {
    ...exchange,
    transmissions: exchange.transmissions + 1,
    sentAt: at,
  };
  return move(state, { exchange: again }, transmit(state, again, 'repeat'));
}

function transmit(state: PanelState, exchange: OpenExchange, role: 'first' | 'repeat' | 'probe'): PanelEffect {
  return { kind: 'transmit', bytes: exchange.bytes, replyTimeoutMs: state.settings.replyTimeoutMs, role };
}
