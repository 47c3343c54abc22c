/**
 * What the door process believes of answers to its own questions: that there was contact, what time it is, what to do.
 *
 * Guarantees: a lease is renewed only by an answer to a question of this boot, once, counted from the question, and only
 * where the replica stands at the head with the head's digest; a command is taken up at most once, also across a restart,
 * and not after its life on the monotonic clock; time only from an answer within seconds.
 * Not promised: that the act of a command is possible; the doors say so.
 */

import type * as z from 'zod';
import type { RemoteCommand } from '#shared/contract/sync/command.ts';
import type { LeaseStatement, timeStatement } from '#shared/contract/sync/feed.ts';
import type { KeyCertificate } from '#shared/contract/sync/statement.ts';
import { elapsedMs, type MonoMs, type WallMs, wallMs } from '#shared/instant.ts';
import { type Duplicate, duplicate, type FollowState, type Refusal, refuse } from './follow-state.ts';
import { findNonce, liveNonces } from './live-nonces.ts';

export type LeaseJudgement =
  /** Contact as of `contactAt`, when the question was asked. */
  { readonly kind: 'renew'; readonly contactAt: MonoMs; readonly state: FollowState } | Refusal;

export function judgeLease(state: FollowState, lease: LeaseStatement, at: MonoMs): LeaseJudgement {
  if (lease.gateway !== state.gateway) return refuse('other-gateway');
  if (lease.epoch !== state.epoch) return refuse('other-epoch');
  const asked = findNonce(state.nonces, { nonce: lease.nonce, purpose: 'poll' }, at);
  if (asked === undefined) return refuse('nonce-unknown');
  if (asked.isSpent) return refuse('nonce-spent');
  if (lease.head !== state.cursor || lease.digest !== state.digest) return refuse('not-at-head');
  if (state.contactAt !== undefined && asked.issuedAt < state.contactAt) return refuse('older');
  const nonces = liveNonces(state.nonces, at).map((nonce) => (nonce === asked ? { ...nonce, isSpent: true } : nonce));
  return { kind: 'renew', contactAt: asked.issuedAt, state: { ...state, nonces, contactAt: asked.issuedAt } };
}

export type TimeJudgement =
  /** Evidence for the trusted clock; the answer took `tookMs`. */
  { readonly kind: 'believe'; readonly wall: WallMs; readonly tookMs: number; readonly state: FollowState } | Refusal;

/** An answer that took longer says too little about now. */
const timeAnswerMaxMs = 5_000;

export function judgeTime(state: FollowState, time: z.infer<typeof timeStatement>, at: MonoMs): TimeJudgement {
  if (time.gateway !== null && time.gateway !== state.gateway) return refuse('other-gateway');
  const asked = findNonce(state.nonces, { nonce: time.nonce, purpose: 'time' }, at);
  if (asked === undefined) return refuse('nonce-unknown');
  const tookMs = elapsedMs(asked.issuedAt, at);
  if (tookMs > timeAnswerMaxMs) return refuse('too-late');
  const nonces = liveNonces(state.nonces, at).filter((nonce) => nonce !== asked);
  return { kind: 'believe', wall: wallMs(time.at), tookMs, state: { ...state, nonces } };
}

export type CommandJudgement =
  /** Journal it with `state.executed`; act only after that commit. */
  { readonly kind: 'take-up'; readonly state: FollowState } | Duplicate | Refusal;

/** The cloud offers no command for longer than its life, a minute: an id is remembered for ten. */
const rememberedMs = 10 * 60_000;
/** More in ten minutes are no longer acted upon. */
export const executedMax = 512;

/** A command that was taken up before is `duplicate`, offered anew because its answer was lost; nothing is done. */
export function judgeCommand(state: FollowState, command: RemoteCommand, at: MonoMs): CommandJudgement {
  if (command.gateway !== state.gateway) return refuse('other-gateway');
  if (state.executed.some(({ id }) => id === command.id)) return duplicate;
  const asked = findNonce(state.nonces, { nonce: command.nonce, purpose: 'poll' }, at);
  if (asked === undefined) return refuse('nonce-unknown');
  if (elapsedMs(asked.issuedAt, at) >= command.lifetimeMs) return refuse('too-late');
  const remembered = state.executed.filter((executed) => elapsedMs(executed.at, at) < rememberedMs);
  if (remembered.length >= executedMax) return refuse('too-many');
  return { kind: 'take-up', state: { ...state, executed: [...remembered, { id: command.id, at }] } };
}

export type CertificateJudgement =
  /** Keep it; from now on the feed is believed only under its key. */
  { readonly kind: 'accept'; readonly state: FollowState } | Duplicate | Refusal;

/** @param now trusted wall time, or `undefined` where it is not known; then its dates are not looked at. */
export function judgeCertificate(
  state: FollowState,
  certificate: KeyCertificate,
  now: WallMs | undefined,
): CertificateJudgement {
  if (certificate.serial === state.certificateSerial) return duplicate;
  if (certificate.serial < state.certificateSerial) return refuse('older');
  if (now !== undefined && now < certificate.notBefore) return refuse('not-yet-valid');
  if (now !== undefined && now >= certificate.notAfter) return refuse('no-longer-valid');
  return { kind: 'accept', state: { ...state, certificateSerial: certificate.serial } };
}
