/**
 * From silence to a reader that said who it is: probing, identity, capabilities, and the choice between plain and secure.
 *
 * Guarantee: what is said here in plain decides nothing but which reader to be suspicious of.
 */

import { startHandshake } from './panel-handshake.ts';
import { deniesEncryption, isSameReader } from './panel-identity.ts';
import { startInquiry } from './panel-inquiry.ts';
import { discardStale } from './panel-report.ts';
import { block, hangUp } from './panel-restart.ts';
import {
  andThen,
  fromTheBeginning,
  move,
  noCapabilities,
  type PanelState,
  type PanelStep,
  raise,
} from './panel-state.ts';
import { probeDelay } from './panel-timing.ts';
import type { Answer } from './panel-verdict.ts';
import { capabilitiesReply } from './reply/capabilities.ts';
import { type IdentityReply, identityReply } from './reply/identity.ts';

/** Nothing usable answered a probe: the next one later, with the other question where that is allowed. */
export function missProbe(state: PanelState, sentAt: number): PanelStep {
  const probes = state.probes + 1;
  const wasId = state.stage.kind === 'probe' && state.stage.using === 'id';
  const stage = wasId && state.settings.wakeWithPoll ? ({ kind: 'probe', using: 'poll' } as const) : fromTheBeginning;
  return andThen(hangUp(state), (next) => move(next, { probes, stage, notBefore: sentAt + probeDelay(probes) }));
}

/** To a probe, whichever question it was. */
export function takeProbeAnswer(state: PanelState, at: number, answer: Answer): PanelStep {
  const using = state.stage.kind === 'probe' ? state.stage.using : 'id';
  if (using === 'id') return takeIdentity(state, at, answer);
  return move(state, { link: answer.link, stage: { kind: 'identify' } }, ...discardStale(answer));
}

export function takeIdentity(state: PanelState, at: number, answer: Answer): PanelStep {
  const reply = answer.code === identityReply.code ? identityReply.decode(answer.data) : undefined;
  if (reply?.kind !== 'identity') return missProbe(state, at);
  return meetReader({ ...state, link: answer.link, probes: 0 }, at, reply);
}

function meetReader(state: PanelState, at: number, identity: IdentityReply): PanelStep {
  const isPlain = state.settings.security.mode === 'plain';
  const met = move(state, { identity, stage: { kind: 'capabilities' } });
  if (!isPlain || isSameReader(state.expectedIdentity, identity)) return met;
  const alarmed = raise(met.state, at, 'DEVICE_IDENTITY_CHANGED', 'other-reader');
  return andThen(alarmed, (next) => block(next, at, 'identity-changed'));
}

/** A reader that refuses the question is taken without capabilities. */
export function takeCapabilities(state: PanelState, at: number, answer: Answer): PanelStep {
  const reply = answer.code === capabilitiesReply.code ? capabilitiesReply.decode(answer.data) : undefined;
  const capabilities = reply?.kind === 'capabilities' ? reply : noCapabilities;
  const known = { ...state, link: answer.link, capabilities };
  if (state.settings.security.mode === 'plain') return startInquiry(known);
  const isDenied = state.keys.current !== undefined && deniesEncryption(capabilities);
  const compared = isDenied
    ? raise(known, at, 'DEVICE_SECURITY_LOST', 'capabilities-deny-encryption')
    : move(known, {});
  return andThen(compared, (next) => startHandshake(next, at));
}
