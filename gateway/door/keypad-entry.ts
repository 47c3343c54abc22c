/**
 * Keys at one reader become a PIN; a PIN after a challenged card becomes the answer to it.
 *
 * `#` ends, and so do five seconds without a key, for keypads that have no `#`; `*` clears; a card read drops what was typed.
 * Guarantees: at most ten digits are ever held; a PIN joins only the card challenged within the last 15 s, once; what was
 * typed to a challenge that ran out is dropped, and never tried as a PIN of its own.
 * Not promised: what a reader does that gathers keys by itself; its buffer arrives as one string of keys.
 */
import { later, type MonoMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';
import type { CardBits, Presented } from './access-request.ts';

const pinDigitsMin = 4;
const pinDigitsMax = 10;
/** Longest pause between two keys, ms. */
const keyPauseMs = 5_000;
/** How long a challenged card waits for its PIN, ms. */
const challengeMs = 15_000;

export interface KeypadEntry {
  /** Digits so far; `overlong` takes no more and is no PIN. */
  readonly typed: string | 'overlong';
  readonly lastKeyAt: MonoMs | undefined;
  readonly challenged: { readonly card: CardBits; readonly until: MonoMs } | undefined;
}

export type KeypadInput = { readonly at: MonoMs } /** `0`–`9`, `*`, `#`; other keys are ignored. */ & (
  | { readonly kind: 'keys'; readonly keys: string }
  | { readonly kind: 'card' }
  /** The card’s request ended in a challenge. */
  | { readonly kind: 'challenged'; readonly card: CardBits }
  | { readonly kind: 'tick' }
);

/** A PIN, ready to be asked for; `receivedAt` is when it ended: its `#`, or the end of the pause. */
export interface EnteredPin {
  readonly presented: Extract<Presented, { kind: 'pin' | 'card-and-pin' }>;
  readonly receivedAt: MonoMs;
}

export interface KeypadStepped {
  readonly state: KeypadEntry;
  /** PINs that ended, in order; usually one. */
  readonly entered: readonly EnteredPin[];
  /** A challenge ran out unanswered: the reader may show its idle lamp again. */
  readonly isChallengeOver: boolean;
}

export const emptyKeypad: KeypadEntry = { typed: '', lastKeyAt: undefined, challenged: undefined };

export function stepKeypad(before: KeypadEntry, input: KeypadInput): KeypadStepped {
  const elapsed = elapse(before, input.at);
  const { state } = elapsed;
  switch (input.kind) {
    case 'tick':
      return elapsed;
    case 'card':
      return { ...elapsed, state: emptyKeypad };
    case 'challenged': {
      const challenged = { card: input.card, until: later(input.at, challengeMs) };
      // Keys typed while the card was being decided belong to it.
      return { ...elapsed, state: { ...state, challenged }, isChallengeOver: false };
    }
    case 'keys': {
      const taken = takeKeys(state, input.keys, input.at);
      return { ...elapsed, state: taken.state, entered: [...elapsed.entered, ...taken.entered] };
    }
    default:
      return unreachable(input);
  }
}

/** When a `tick` is due; `undefined` = nothing was typed and no card waits. */
export function nextKeypadDeadline({ lastKeyAt, challenged }: KeypadEntry): MonoMs | undefined {
  const pauseEnd = lastKeyAt === undefined ? undefined : later(lastKeyAt, keyPauseMs);
  if (challenged === undefined) return pauseEnd;
  return pauseEnd === undefined || challenged.until < pauseEnd ? challenged.until : pauseEnd;
}

/** What time alone ended before `at`: the challenge with what was typed to it, or else the pause after the last key. */
function elapse(state: KeypadEntry, at: MonoMs): KeypadStepped {
  const { lastKeyAt, challenged } = state;
  const pauseEnd = lastKeyAt === undefined ? undefined : later(lastKeyAt, keyPauseMs);
  const isPauseFirst = pauseEnd !== undefined && (challenged === undefined || pauseEnd < challenged.until);
  if (isPauseFirst && at >= pauseEnd) {
    const taken = takeKeys(state, '#', pauseEnd);
    const after = elapse(taken.state, at);
    return { ...after, entered: taken.entered };
  }
  if (challenged !== undefined && at >= challenged.until) {
    return { state: emptyKeypad, entered: [], isChallengeOver: true };
  }
  return { state, entered: [], isChallengeOver: false };
}

function takeKeys(before: KeypadEntry, keys: string, at: MonoMs): Omit<KeypadStepped, 'isChallengeOver'> {
  let state = before;
  const entered: EnteredPin[] = [];
  for (const key of keys) {
    const presented = key === '#' ? presentedBy(state) : undefined;
    if (presented !== undefined) entered.push({ presented, receivedAt: at });
    state = afterKey(state, key, at, presented !== undefined);
  }
  return { state, entered };
}

function presentedBy({ typed, challenged }: KeypadEntry): EnteredPin['presented'] | undefined {
  if (typed === 'overlong' || typed.length < pinDigitsMin) return undefined;
  return challenged === undefined
    ? { kind: 'pin', digits: typed }
    : { kind: 'card-and-pin', card: challenged.card, digits: typed };
}

function afterKey(state: KeypadEntry, key: string, at: MonoMs, isEntered: boolean): KeypadEntry {
  if (key === '#') return { typed: '', lastKeyAt: undefined, challenged: isEntered ? undefined : state.challenged };
  if (key === '*') return { ...state, typed: '', lastKeyAt: undefined };
  if (!/^[0-9]$/.test(key)) return state;
  const isFull = state.typed === 'overlong' || state.typed.length >= pinDigitsMax;
  return { ...state, typed: isFull ? 'overlong' : state.typed + key, lastKeyAt: at };
}
