/**
 * Drafts and state as they travel to the journal thread: checked and written out by the caller, so that a draft
 * that cannot be written is a bug where it was made, and the thread parses nothing.
 */
import { type CanonicalValue, canonicalText } from '#shared/canonical.ts';
import { bodyTextMax, personalTextMax } from '#shared/contract/sync/journal.ts';
import { invariant } from '#shared/invariant.ts';
import type { EntryDraft, EntryKind, StateWrite } from './entry.ts';

export interface PreparedDraft {
  readonly kind: EntryKind;
  readonly at: number;
  readonly clockState: EntryDraft['clockState'];
  readonly door: string | null;
  readonly requestId: string | null;
  /** Canonical text. */
  readonly body: string;
  readonly personal: string | null;
}

/** Whose clock the journal's own entries carry: that of the last entry it was given. */
export type ClockStamp = Pick<EntryDraft, 'at' | 'clockState'>;

export interface PreparedState {
  readonly kind: StateWrite['kind'];
  readonly key: string;
  /** Canonical text; `null` removes the row. */
  readonly value: string | null;
}

export function prepareDraft(draft: EntryDraft): PreparedDraft {
  invariant(Number.isSafeInteger(draft.at), `an entry's time is whole milliseconds, got ${draft.at}`);
  return {
    kind: draft.kind,
    at: draft.at,
    clockState: draft.clockState,
    door: draft.door,
    requestId: draft.requestId,
    body: boundedText(draft.body, bodyTextMax),
    personal: draft.personal === undefined ? null : boundedText(draft.personal, personalTextMax),
  };
}

export function prepareState(write: StateWrite): PreparedState {
  return {
    kind: write.kind,
    key: write.key,
    value: write.value === null ? null : boundedText(write.value, bodyTextMax),
  };
}

function boundedText(value: CanonicalValue, textMax: number): string {
  const text = canonicalText(value);
  invariant(text.length <= textMax, `an entry holds at most ${textMax} characters, got ${text.length}`);
  return text;
}

/** An entry that the journal makes itself. */
export function ownDraft(kind: EntryKind, body: EntryDraft['body'], stamp: ClockStamp): PreparedDraft {
  return { kind, ...stamp, door: null, requestId: null, body: boundedText(body, bodyTextMax), personal: null };
}
