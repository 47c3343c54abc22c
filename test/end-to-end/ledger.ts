/** Everything a gateway's journal ever held, gathered over its lives, and held against what it once said of it. */
import type { EntryView } from '#gateway/control/entry-view.ts';
import type { Entry } from '#gateway/journal/entry.ts';
import type { OpenGateway } from './running-gateway.ts';

const pageMax = 1_000;

export class Ledger {
  readonly #entries: Entry[] = [];

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Reads what is new in the journal of a gateway that works. @throws Error where it is not the journal it was. */
  async read({ client }: OpenGateway): Promise<void> {
    for (;;) {
      const after = this.#entries.at(-1)?.seq ?? 0;
      const page = (await client.call('events', { after, limit: pageMax })) as readonly EntryView[];
      for (const { entry } of page) this.#take(entry);
      if (page.length < pageMax) return;
    }
  }

  /** @returns entries that somebody was told of, and that are not in the journal as they were told. */
  missing(told: readonly Entry[]): readonly Entry[] {
    return told.filter(({ seq, hash }) => this.#entries[seq - 1]?.hash !== hash);
  }

  #take(entry: Entry): void {
    const before = this.#entries.at(-1);
    const isNext = entry.epoch === 1 && entry.seq === (before?.seq ?? 0) + 1;
    const isLinked = before === undefined || entry.prevHash === before.hash;
    if (!isNext || !isLinked) throw new Error(`entry ${entry.epoch}/${entry.seq} does not follow ${before?.seq}`);
    this.#entries.push(entry);
  }
}
