/** Keeps each reader's count of failures: in memory for the next decision, in the journal for the next start. */
import type { RefusalCode } from '#shared/code.ts';
import type { ReaderId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import { isLocked, restoreGuesses, saveGuesses } from '../door/guess-limiter.ts';
import {
  countRefusal,
  type Episode,
  endEpisodes,
  noGuesses,
  type ReaderGuesses,
  type RefusalCounted,
  resumeGuesses,
} from '../door/reader-guesses.ts';
import type { StateWrite } from '../journal/entry.ts';
import type { StateMemory } from './state-memory.ts';

export interface Counted extends Omit<RefusalCounted, 'state'> {
  readonly writes: readonly StateWrite[];
}

export interface EndedEpisode {
  readonly reader: ReaderId;
  readonly episode: Episode;
}

export class GuessKeeper {
  readonly #readers = new Map<ReaderId, ReaderGuesses>();
  /** Over, and not told yet. */
  #ended: EndedEpisode[] = [];
  readonly #memory: StateMemory;

  constructor(memory: StateMemory, at: MonoMs) {
    this.#memory = memory;
    for (const key of memory.keys('guessing')) {
      this.#readers.set(key as ReaderId, resumeGuesses(restoreGuesses(memory.read('guessing', key), at), at));
    }
  }

  isLocked(reader: ReaderId, at: MonoMs): boolean {
    return isLocked(this.#of(reader).pins, at);
  }

  count(reader: ReaderId, at: MonoMs, refusal: { readonly code: RefusalCode; readonly carriesPin: boolean }): Counted {
    this.#end(reader, at);
    const before = this.#of(reader);
    const { state, ...counted } = countRefusal(before, at, refusal);
    this.#readers.set(reader, state);
    const hasFailed = state.pins !== before.pins;
    return {
      ...counted,
      writes: hasFailed ? [this.#memory.write('guessing', reader, saveGuesses(state.pins, at))] : [],
    };
  }

  /** What is over by now, reader by reader; each is told once. */
  endDue(at: MonoMs): readonly EndedEpisode[] {
    for (const reader of this.#readers.keys()) this.#end(reader, at);
    const ended = this.#ended;
    this.#ended = [];
    return ended;
  }

  lockedAt(at: MonoMs): readonly ReaderId[] {
    return [...this.#readers.keys()].filter((reader) => this.isLocked(reader, at));
  }

  #end(reader: ReaderId, at: MonoMs): void {
    const { state, ended } = endEpisodes(this.#of(reader), at);
    if (ended.length === 0) return;
    this.#readers.set(reader, state);
    this.#ended.push(...ended.map((episode) => ({ reader, episode })));
  }

  #of(reader: ReaderId): ReaderGuesses {
    return this.#readers.get(reader) ?? noGuesses;
  }
}
