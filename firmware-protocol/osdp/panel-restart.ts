/**
 * The ways a conversation ends, and what becomes of the commands that were in it.
 *
 * Guarantee: every end leads back to sequence 0 without a session, sooner or later; every command that was taken gets
 * exactly one outcome; once a byte of it has left, nothing but its own answer says whether it was carried out.
 */
import { freshLink } from './panel-exchange.ts';
import type { PanelEffect, PanelOfflineReason } from './panel-port.ts';
import { andThen, fromTheBeginning, move, type PanelState, type PanelStep, raise, sayOffline } from './panel-state.ts';
import { failureDelay, restartDelay, stableMs } from './panel-timing.ts';

/** Ends the conversation: no session, sequence 0, every command answered for. Says nothing about the reader. */
export function hangUp(state: PanelState): PanelStep {
  const { exchange } = state;
  const effects: PanelEffect[] = [];
  if (exchange?.command !== undefined) {
    effects.push({ kind: 'command-done', id: exchange.command.id, outcome: { kind: 'unknown' } });
  }
  for (const { id } of state.queue) {
    effects.push({ kind: 'command-done', id, outcome: { kind: 'not-executed', reason: 'offline' } });
  }
  const link = freshLink(state.link.address, state.link.check);
  return move(state, { link, exchange: undefined, queue: [], stage: fromTheBeginning }, ...effects);
}

/** Unauthentic ends of sessions in a row that make an alarm. */
const stormRestarts = 3;

/**
 * Begins anew, at once for the first time, slower while it keeps happening.
 * @param isUnproven whether a message that anybody could have sent caused it.
 */
export function restart(state: PanelState, at: number, reason: PanelOfflineReason, isUnproven: boolean): PanelStep {
  const wasOnline = state.status?.kind === 'online';
  const wasStable = state.status?.kind === 'online' && at - state.status.since >= stableMs;
  const restarts = wasStable ? 0 : state.restarts;
  // A reader that answers a first question this way only lost its own conversation.
  const hadBegun = state.stage.kind !== 'probe';
  const unprovenRestarts = (wasStable ? 0 : state.unprovenRestarts) + Number(isUnproven && hadBegun);
  const ended = andThen(hangUp(state), (next) =>
    move(next, { restarts: restarts + 1, unprovenRestarts, notBefore: at + restartDelay(restarts), probes: 0 }),
  );
  const said = wasOnline ? andThen(ended, (next) => sayOffline(next, reason)) : ended;
  if (unprovenRestarts < stormRestarts) return said;
  return andThen(said, (next) => raise(next, at, 'DEVICE_MESSAGE_FORGED', 'session-ended-again-and-again'));
}

/** Begins anew after a pause, without saying anything: the reader answers, and may yet be usable. */
export function retryHandshake(state: PanelState, at: number): PanelStep {
  const failures = state.failures + 1;
  return andThen(hangUp(state), (next) => move(next, { failures, notBefore: at + failureDelay(failures), probes: 0 }));
}

/** Gives the reader up for a while: it answers, and cannot be used. */
export function block(state: PanelState, at: number, reason: PanelOfflineReason): PanelStep {
  return andThen(retryHandshake(state, at), (next) => sayOffline(next, reason));
}

/** Nobody answered for too long. */
export function fallSilent(state: PanelState, at: number): PanelStep {
  const ended = andThen(hangUp(state), (next) => move(next, { notBefore: at, probes: 0 }));
  return andThen(ended, (next) => sayOffline(next, 'silent'));
}
