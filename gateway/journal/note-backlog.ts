/**
 * Notes that wait to share a commit, or for a disk to be well again.
 *
 * Bounded: beyond the limit the oldest entries go and are counted; state is never dropped, only replaced by newer.
 */
import type { PreparedDraft, PreparedState } from './prepared-entry.ts';

export const backlogMax = 1_000;

export interface Notes {
  readonly drafts: readonly PreparedDraft[];
  readonly state: readonly PreparedState[];
}

export class NoteBacklog {
  #drafts: PreparedDraft[] = [];
  #state = new Map<string, PreparedState>();
  #dropped = 0;

  get isEmpty(): boolean {
    return this.#drafts.length === 0 && this.#state.size === 0;
  }

  /** Entries that are lost for want of room since the last `takeDropped`. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  add(notes: Notes): void {
    this.#drafts.push(...notes.drafts);
    for (const write of notes.state) this.#state.set(keyOf(write), write);
    this.#trim();
  }

  /** Puts back what could not be written: before everything that came since. */
  putBack(notes: Notes): void {
    this.#drafts = [...notes.drafts, ...this.#drafts];
    const newer = this.#state;
    this.#state = new Map(notes.state.map((write) => [keyOf(write), write]));
    for (const [key, write] of newer) this.#state.set(key, write);
    this.#trim();
  }

  takeAll(): Notes {
    const notes = { drafts: this.#drafts, state: [...this.#state.values()] };
    this.#drafts = [];
    this.#state = new Map();
    return notes;
  }

  #trim(): void {
    const excess = this.#drafts.length - backlogMax;
    if (excess <= 0) return;
    this.#drafts.splice(0, excess);
    this.#dropped += excess;
  }
}

const keyOf = (write: PreparedState): string => `${write.kind}\n${write.key}`;
