/** What is remembered of one call to the cloud: what went wrong since it last succeeded, and when it may go again. */
import { elapsedMs, later, type MonoMs } from '#shared/instant.ts';
import { backOffMs, ceilingMs } from './back-off.ts';
import type { CallFailure } from './call-failure.ts';

/** `read`: a card shown for enrolment, sealed. */
export type Call = 'time' | 'ack' | 'snapshot' | 'repair' | 'feed' | 'journal' | 'read';

export type CallResult =
  /** `isEmpty`: of a poll, the cloud had nothing to tell. */
  | { readonly kind: 'ok'; readonly isEmpty?: boolean }
  | { readonly kind: 'failed'; readonly why: CallFailure; readonly retryAfterMs?: number };

export interface Trouble {
  readonly why: CallFailure;
  /** When the first failure of the row was. */
  readonly since: MonoMs;
  readonly failures: number;
}

export interface CallRecord {
  /** Not again before; `undefined` = at any time. */
  readonly notBefore: MonoMs | undefined;
  readonly trouble: Trouble | undefined;
}

export const untried: CallRecord = { notBefore: undefined, trouble: undefined };

/** A poll that ends sooner than this and brought nothing is not asked again at once: never a busy loop. */
const shortestPollMs = 250;

/** @param isEmptyPoll one that brought nothing, or nothing that must be followed up at once. */
export function afterSuccess(since: MonoMs, at: MonoMs, isEmptyPoll: boolean): CallRecord {
  if (!isEmptyPoll || elapsedMs(since, at) >= shortestPollMs) return untried;
  return { notBefore: later(since, shortestPollMs), trouble: undefined };
}

/** @param random in [0, 1). */
export function afterFailure(
  record: CallRecord,
  { why, retryAfterMs }: Extract<CallResult, { kind: 'failed' }>,
  at: MonoMs,
  random: number,
): CallRecord {
  const failures = (record.trouble?.failures ?? 0) + 1;
  const trouble = { why, since: record.trouble?.since ?? at, failures };
  return { notBefore: later(at, waitAfter(why, failures, random, retryAfterMs ?? 0)), trouble };
}

function waitAfter(why: CallFailure, failures: number, random: number, retryAfterMs: number): number {
  // Half as much, or what door now says instead, is tried at once; but not for ever.
  if ((why === 'too-large' || why === 'conflict') && failures < 10) return 50;
  // Whether we are allowed again is asked seldom.
  if (why === 'revoked') return ceilingMs / 2 + Math.ceil((random * ceilingMs) / 2);
  return backOffMs(failures, random, Math.min(retryAfterMs, 10 * ceilingMs));
}
