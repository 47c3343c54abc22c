/**
 * What a fresh channel is asked before the reader counts as on line: who it is and what it can do, again.
 *
 * Guarantee: in a session the answers given in plain are never relied on; where they differ somebody forged them and an
 * alarm says so. A reader other than the enrolled one does not come on line.
 */

import { countsAny, isSameCapabilities, isSameIdentity, isSameReader } from './panel-identity.ts';
import type { Inquiry, PanelEffect, Question } from './panel-port.ts';
import { reportAnswer } from './panel-report.ts';
import { block } from './panel-restart.ts';
import { andThen, move, type PanelState, type PanelStep, raise } from './panel-state.ts';
import type { Answer } from './panel-verdict.ts';
import { type CapabilitiesReply, capabilitiesReply, capabilityFunction } from './reply/capabilities.ts';
import { type IdentityReply, identityReply } from './reply/identity.ts';
import { nakReason, nakReply } from './reply/nak.ts';

const isBasic = (inquiry: Inquiry): boolean => inquiry === 'identity' || inquiry === 'capabilities';

/** In plain the same forger would answer twice, so only the will to speak plain is tried. */
export function startInquiry(state: PanelState, at: number): PanelStep {
  const rest = state.link.channel === undefined ? (['poll'] as const) : state.settings.inquiries.filter(isBasic);
  return goOn(state, at, rest);
}

export function takeInquiryAnswer(state: PanelState, at: number, rest: readonly Question[], answer: Answer): PanelStep {
  const answered = { ...state, link: answer.link };
  const reply = decodeBasic(answer);
  if (reply?.kind === 'identity') return takeIdentity(answered, at, rest, reply);
  if (reply?.kind === 'capabilities') return takeCapabilities(answered, at, rest, reply);
  if (isRefusedInPlain(answered, answer)) return block(answered, at, 'security-required');
  const gone = goOn(answered, at, rest.slice(1));
  return {
    state: gone.state,
    effects: [...gone.effects, ...reportAnswer(answer, at, { isPoll: true, hasSettled: false })],
  };
}

function isRefusedInPlain(state: PanelState, answer: Answer): boolean {
  const [reason] = answer.data;
  const isAboutSecurity = reason === nakReason.securityRequired || reason === nakReason.securityUnsupported;
  return state.link.channel === undefined && answer.code === nakReply.code && isAboutSecurity;
}

function decodeBasic(answer: Answer): IdentityReply | CapabilitiesReply | undefined {
  if (answer.code === identityReply.code) {
    const reply = identityReply.decode(answer.data);
    return reply.kind === 'identity' ? reply : undefined;
  }
  const reply = answer.code === capabilitiesReply.code ? capabilitiesReply.decode(answer.data) : undefined;
  return reply?.kind === 'capabilities' ? reply : undefined;
}

function takeIdentity(state: PanelState, at: number, rest: readonly Question[], identity: IdentityReply): PanelStep {
  const isForged = !isSameIdentity(state.identity, identity);
  const compared = isForged ? raise(state, at, 'DEVICE_MESSAGE_FORGED', 'identity-differs-in-plain') : move(state, {});
  return andThen(compared, (next) => {
    if (isSameReader(next.expectedIdentity, identity)) return goOn({ ...next, identity }, at, rest.slice(1));
    const alarmed = raise({ ...next, identity }, at, 'DEVICE_IDENTITY_CHANGED', 'other-reader');
    return andThen(alarmed, (last) => block(last, at, 'identity-changed'));
  });
}

function takeCapabilities(
  state: PanelState,
  at: number,
  rest: readonly Question[],
  capabilities: CapabilitiesReply,
): PanelStep {
  const isForged = !isSameCapabilities(state.capabilities, capabilities);
  const compared = isForged
    ? raise(state, at, 'DEVICE_MESSAGE_FORGED', 'capabilities-differ-in-plain')
    : move(state, {});
  return andThen(compared, (next) => goOn({ ...next, capabilities }, at, rest.slice(1)));
}

function goOn(state: PanelState, at: number, rest: readonly Question[]): PanelStep {
  return rest.length > 0 ? move(state, { stage: { kind: 'inquire', rest } }) : comeOnline(state, at);
}

/** The status questions this reader can answer; one that named no capabilities is asked all. */
function statusInquiries(state: PanelState): readonly Inquiry[] {
  const { capabilities } = state;
  const isUnknown = capabilities.capabilities.length === 0;
  const can = (number: number): boolean => isUnknown || countsAny(capabilities, number);
  const isCapable: Readonly<Record<Inquiry, boolean>> = {
    identity: false,
    capabilities: false,
    'local-status': true,
    'input-status': can(capabilityFunction.inputs),
    'output-status': can(capabilityFunction.outputs),
    'reader-status': can(capabilityFunction.readers),
  };
  return state.settings.inquiries.filter((inquiry) => isCapable[inquiry]);
}

function comeOnline(state: PanelState, at: number): PanelStep {
  const { identity, capabilities, keys } = state;
  if (identity === undefined) return block(state, at, 'protocol-fault');
  const effects: PanelEffect[] = [];
  if (keys.proven !== undefined) {
    effects.push(
      { kind: 'key-installed', key: keys.proven, identity },
      { kind: 'install-closed', reason: 'installed' },
    );
  }
  const channel = state.link.channel === undefined ? 'plain' : 'secure';
  effects.push({ kind: 'online', channel, identity, capabilities });
  const changes: Partial<PanelState> = {
    stage: { kind: 'up', rest: statusInquiries(state), hasSettled: false },
    status: { kind: 'online', since: at },
    keys: { ...keys, proven: undefined },
    expectedIdentity: keys.proven === undefined ? state.expectedIdentity : (state.expectedIdentity ?? identity),
    failures: 0,
  };
  return move(state, changes, ...effects);
}
