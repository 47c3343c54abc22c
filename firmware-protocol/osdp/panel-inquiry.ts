/**
 * What a fresh channel is asked before the reader counts as on line: who it is and what it can do, again, and whatever
 * waited in it.
 *
 * Guarantee: in a session the answers given in plain are never relied on; where they differ somebody forged them and an
 * alarm says so. A reader other than the enrolled one does not come on line. What waited is emptied first, so that a
 * person who presents a card to a reader on line is heard; only a reader that reports without end comes on line before.
 */

import { countsAny, isSameCapabilities, isSameIdentity, isSameReader } from './panel-identity.ts';
import type { Inquiry, PanelEffect } from './panel-port.ts';
import { reportAnswer } from './panel-report.ts';
import { block } from './panel-restart.ts';
import { andThen, move, type PanelState, type PanelStep, raise, type Stage } from './panel-state.ts';
import type { Answer } from './panel-verdict.ts';
import { ackReply } from './reply/ack.ts';
import { type CapabilitiesReply, capabilitiesReply, capabilityFunction } from './reply/capabilities.ts';
import { type IdentityReply, identityReply } from './reply/identity.ts';
import { nakReason, nakReply } from './reply/nak.ts';

const isBasic = (inquiry: Inquiry): boolean => inquiry === 'identity' || inquiry === 'capabilities';

type Inquire = Extract<Stage, { kind: 'inquire' }>;

/** More than a reader keeps of what was presented while nobody listened. */
const drainLimit = 64;

/** In plain the same forger would answer twice, so nothing is asked again; that it speaks plain at all is tried. */
export function startInquiry(state: PanelState): PanelStep {
  const basic = state.link.channel === undefined ? [] : state.settings.inquiries.filter(isBasic);
  return move(state, { stage: { kind: 'inquire', rest: [...basic, 'poll'], early: [], drained: 0 } });
}

export function takeInquiryAnswer(state: PanelState, at: number, stage: Inquire, answer: Answer): PanelStep {
  const answered = { ...state, link: answer.link };
  if (isRefusedInPlain(answered, answer)) return block(answered, at, 'security-required');
  if (stage.rest[0] === 'poll') return drain(answered, at, stage, answer);
  const reply = decodeBasic(answer);
  const next = { ...stage, rest: stage.rest.slice(1) };
  if (reply?.kind === 'identity') return takeIdentity(answered, at, next, reply);
  if (reply?.kind === 'capabilities') return takeCapabilities(answered, at, next, reply);
  const { early, discarded } = listen(next, at, answer);
  return move(answered, { stage: { ...next, early } }, ...discarded);
}

/** Polls until nothing waits any more. */
function drain(state: PanelState, at: number, stage: Inquire, answer: Answer): PanelStep {
  const hasSettled = answer.code === ackReply.code;
  if (hasSettled || answer.code === nakReply.code) return comeOnline(state, at, stage.early, hasSettled);
  const { early, discarded } = listen(stage, at, answer);
  const drained = stage.drained + 1;
  const heard = move(state, { stage: { ...stage, early, drained } }, ...discarded);
  return drained < drainLimit ? heard : andThen(heard, (next) => comeOnline(next, at, early, false));
}

/** Old reads are discarded now; what counts is told once the reader is on line. */
function listen(stage: Inquire, at: number, answer: Answer) {
  const told = reportAnswer(answer, at, { isPoll: true, hasSettled: false });
  const early = [...stage.early, ...told.filter(({ kind }) => kind === 'event')];
  return { early, discarded: told.filter(({ kind }) => kind === 'discarded') };
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

function takeIdentity(state: PanelState, at: number, stage: Inquire, identity: IdentityReply): PanelStep {
  const isForged = !isSameIdentity(state.identity, identity);
  const compared = isForged ? raise(state, at, 'DEVICE_MESSAGE_FORGED', 'identity-differs-in-plain') : move(state, {});
  return andThen(compared, (next) => {
    if (isSameReader(next.expectedIdentity, identity)) return move({ ...next, identity }, { stage });
    const alarmed = raise({ ...next, identity }, at, 'DEVICE_IDENTITY_CHANGED', 'other-reader');
    return andThen(alarmed, (last) => block(last, at, 'identity-changed'));
  });
}

function takeCapabilities(state: PanelState, at: number, stage: Inquire, capabilities: CapabilitiesReply): PanelStep {
  const isForged = !isSameCapabilities(state.capabilities, capabilities);
  const compared = isForged
    ? raise(state, at, 'DEVICE_MESSAGE_FORGED', 'capabilities-differ-in-plain')
    : move(state, {});
  return andThen(compared, (next) => move({ ...next, capabilities }, { stage }));
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
    'receive-size': true,
  };
  return state.settings.inquiries.filter((inquiry) => isCapable[inquiry]);
}

function comeOnline(state: PanelState, at: number, early: readonly PanelEffect[], hasSettled: boolean): PanelStep {
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
  effects.push({ kind: 'online', channel, identity, capabilities }, ...early);
  const changes: Partial<PanelState> = {
    stage: { kind: 'up', rest: statusInquiries(state), hasSettled },
    status: { kind: 'online', since: at },
    keys: { ...keys, proven: undefined },
    expectedIdentity: keys.proven === undefined ? state.expectedIdentity : (state.expectedIdentity ?? identity),
    failures: 0,
  };
  return move(state, changes, ...effects);
}
