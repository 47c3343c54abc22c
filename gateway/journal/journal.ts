/**
 * The journal as the rest of the gateway sees it: hand over drafts, be told when they are durable.
 *
 * Guarantees: entries keep the order in which they were handed over; `append` resolves only after the commit that
 * holds them is on disk; state goes in the same transaction. What is not durable in time fails, and is then never written
 * as if it had been.
 */
import type { Entry, EntryDraft, StateWrite } from './entry.ts';

export type JournalState =
  | { readonly kind: 'available' }
  /** Nothing is granted in these; it comes back by itself when the cause goes. */
  | { readonly kind: 'full' | 'budget' | 'failed' | 'closed'; readonly detail: string };

export type AppendResult =
  | { readonly kind: 'durable'; readonly firstSeq: number; readonly lastSeq: number }
  | { readonly kind: 'unavailable'; readonly state: JournalState };

export interface Journal {
  /** Durable before it resolves. Never rejects for a full or failed disk: that is a result. */
  append(entries: readonly EntryDraft[], state?: readonly StateWrite[]): Promise<AppendResult>;
  /** In order with the others, but may wait up to 250 ms to share a commit. */
  note(entries: readonly EntryDraft[], state?: readonly StateWrite[]): void;
  state(): JournalState;
  /** State as of the last durable commit, for start-up. */
  loadState(): Promise<readonly StateWrite[]>;
  /** Entries after `afterSeq`, oldest first, at most `limit` (≤ 1 000); `newest` counts back from the end instead. */
  read(
    query: { readonly afterSeq: number; readonly limit: number } | { readonly newest: number },
  ): Promise<readonly Entry[]>;
  /** Told of entries once they are durable, in order. Returns the function that ends it. */
  follow(listener: (entries: readonly Entry[]) => void): () => void;
  close(): Promise<void>;
}
