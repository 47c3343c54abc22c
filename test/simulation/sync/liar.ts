/**
 * What an edge process in foreign hands can do: hold back, repeat, mix up and edit what passes through it, and say things of
 * its own. It has no keys but its own, so that whatever it makes is signed by nobody.
 */
import type { UploadedEntry } from '#shared/contract/sync/journal.ts';
import type { PollQuery, PollReply, Signed, Upload } from './statement.ts';
import type { World } from './world.ts';

type Passage = 'time' | 'feed' | 'ack' | 'snapshot' | 'repair' | 'journal' | 'sent ack';

const keptMax = 40;

export class Liar {
  /** Chance that it meddles with what passes. */
  lies = 0;
  /** How often it did. */
  count = 0;
  readonly #world: World;
  readonly #kept = new Map<Passage, unknown[]>();
  readonly #uploads: Upload[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  get #random() {
    return this.#world.random;
  }

  /** @returns what is handed on in its place. */
  twist<Of>(passage: Passage, given: Of): Of {
    const kept = this.#kept.get(passage) ?? [];
    this.#kept.set(passage, kept);
    kept.push(given);
    if (kept.length > keptMax) kept.splice(this.#random.int(0, keptMax / 2), 1);
    if (this.lies === 0 || !this.#random.chance(this.lies)) return given;
    this.#world.note('edge lies', passage);
    this.count += 1;
    if (passage === 'feed' && this.#random.chance(0.7)) return this.#mix(kept as PollReply[]) as Of;
    if (this.#random.chance(0.7)) return (this.#random.pick(kept) ?? given) as Of;
    return forge(given, this.#random.int(1, 3));
  }

  /** Parts of different replies, each of them once true. */
  #mix(kept: readonly PollReply[]): PollReply {
    const of = (part: 'batch' | 'urgent' | 'lease') => {
      if (this.#random.chance(0.4)) return undefined;
      const holding = kept.filter((reply) => reply[part] !== undefined);
      return this.#random.pick(this.#random.chance(0.5) ? holding.slice(-4) : holding);
    };
    const { batch } = of('batch') ?? {};
    const { urgent } = of('urgent') ?? {};
    const { lease } = of('lease') ?? {};
    const commands = kept.flatMap((reply) => reply.commands).filter(() => this.#random.chance(0.5));
    return {
      commands,
      snapshotNeeded: this.#random.chance(0.2),
      ...(batch === undefined ? {} : { batch }),
      ...(urgent === undefined ? {} : { urgent }),
      ...(lease === undefined ? {} : { lease }),
    };
  }

  twistQuery(query: PollQuery): PollQuery {
    if (this.lies === 0 || !this.#random.chance(this.lies)) return query;
    const epoch = query.epoch + this.#random.int(-1, 1);
    return { ...query, epoch, after: Math.max(0, query.after + this.#random.int(-6, 6)), waitMs: 0 };
  }

  twistUpload(upload: Upload): Upload {
    this.#uploads.push(upload);
    if (this.#uploads.length > keptMax) this.#uploads.shift();
    if (this.lies === 0 || !this.#random.chance(this.lies)) return upload;
    this.#world.note('edge lies', 'upload');
    const { entries, heads } = upload;
    switch (this.#random.int(0, 6)) {
      case 0:
        return { ...upload, entries: entries.slice(1) };
      case 1:
        return {
          ...upload,
          firstSeq: upload.firstSeq + 1,
          prevHash: entries[0]?.hash ?? '',
          entries: entries.slice(1),
        };
      case 2:
        return { ...upload, entries: entries.map((entry, index) => (index === 0 ? edited(entry) : entry)) };
      case 3:
        return { ...upload, heads: heads.map((head) => ({ ...head, signature: 'by nobody' })) };
      case 4:
        return this.#withFalseGap(upload);
      case 5:
        return { ...upload, epoch: upload.epoch + 1 };
      default:
        return this.#random.pick(this.#uploads) ?? upload;
    }
  }

  #withFalseGap(upload: Upload): Upload {
    const { gap } = this.#random.pick(this.#uploads.filter((kept) => kept.gap !== undefined)) ?? {};
    const value = gap?.value;
    const [first, ...rest] = upload.entries;
    if (first === undefined || value === undefined) return upload;
    const false_ = { ...value, fromSeq: first.seq, toSeq: first.seq, lastHash: first.hash };
    return {
      ...upload,
      firstSeq: first.seq + 1,
      prevHash: first.hash,
      entries: rest,
      gap: { by: 'nobody', type: 'gap', value: false_ },
    };
  }
}

const edited = (entry: UploadedEntry): UploadedEntry => ({ ...entry, kind: 'access.refused' });

/** Says the same, or nearly, in its own name. */
function forge<Of>(given: Of, by: number): Of {
  if (typeof given !== 'object' || given === null) return given;
  if (isSigned(given)) return { ...given, by: 'nobody', value: nudge(given.value, by) } as Of;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((one) => forge(one, by)) : forge(value, by),
    ]),
  ) as Of;
}

const isSigned = (given: object): given is Signed<object> => 'by' in given && 'value' in given;
const nudge = (value: object, by: number): object =>
  Object.fromEntries(Object.entries(value).map(([name, part]) => [name, typeof part === 'number' ? part + by : part]));
