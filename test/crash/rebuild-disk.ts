/**
 * From the record of one run, any disk that a power cut could have left.
 *
 * What was synced is there. Of what was written since, any subset of 512-byte sectors may be there, in any order; a
 * truncation may or may not have happened. Names (files made, renamed, removed) are as the process left them: losing
 * those is not modelled.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export interface DiskEvent {
  readonly kind: 'write' | 'truncation' | 'sync' | 'rename' | 'removal';
  /** Relative to the recorded folder. */
  readonly path: string;
  /** Of a write; the new size, of a truncation. */
  readonly offset: number;
  /** Of a write; the new path, of a rename. */
  readonly bytes: Buffer;
}

/** One run of a writer. */
export interface Recorded {
  /** Where the writer's data lay. */
  readonly folder: string;
  readonly events: readonly DiskEvent[];
  /** What it printed. */
  readonly output: string;
}

const kinds = [undefined, 'write', 'truncation', 'sync', 'rename', 'removal'] as const;
const headBytes = 32;
const sectorBytes = 512;

/** @param log as `recorder.c` writes it; a last record cut short is left out. */
export function parseRecord(log: Buffer, folder: string): readonly DiskEvent[] {
  const events: DiskEvent[] = [];
  for (let at = 0; at + headBytes <= log.length; ) {
    const [kind, pathLength, offset, count] = [0, 8, 16, 24].map((word) => Number(log.readBigUInt64LE(at + word)));
    const pathAt = at + headBytes;
    const bytesAt = pathAt + (pathLength ?? 0);
    at = bytesAt + (count ?? 0);
    const name = kinds[kind ?? 0];
    if (!name || at > log.length) break;
    const path = relative(folder, log.toString('utf8', pathAt, bytesAt));
    events.push({ kind: name, path, offset: offset ?? 0, bytes: log.subarray(bytesAt, at) });
  }
  return events;
}

/** A file's bytes, changed in place; room grows by doubling. */
class Image {
  #bytes = Buffer.alloc(4_096);
  #size = 0;

  get content(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  apply(change: DiskEvent, survives: () => boolean): void {
    if (change.kind === 'truncation') {
      if (survives()) this.#resize(change.offset);
      return;
    }
    for (let at = 0; at < change.bytes.length; ) {
      const position = change.offset + at;
      const sector = change.bytes.subarray(at, at + sectorBytes - (position % sectorBytes));
      at += sector.length;
      if (!survives()) continue;
      if (position + sector.length > this.#size) this.#resize(position + sector.length);
      sector.copy(this.#bytes, position);
    }
  }

  #resize(size: number): void {
    if (size > this.#bytes.length) {
      const roomier = Buffer.alloc(size * 2);
      this.#bytes.copy(roomier, 0, 0, this.#size);
      this.#bytes = roomier;
    }
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }
}

interface FileState {
  readonly image: Image;
  pending: DiskEvent[];
}

const always = (): boolean => true;

/**
 * The files after a cut behind the first `count` events.
 * @param random 0 ≤ x < 1, of the cut's own seed.
 */
export function filesAfterCut(
  recorded: Pick<Recorded, 'events' | 'folder'>,
  count: number,
  random: () => number,
): ReadonlyMap<string, Buffer> {
  const files = filesBeforeCut(recorded, count);
  // Some cuts lose everything that was not synced, some nothing, most some of it.
  const share = random() * 1.4 - 0.2;
  const left = new Map<string, Buffer>();
  for (const [path, { image, pending }] of files) {
    for (const change of pending) image.apply(change, () => random() < share);
    left.set(path, image.content);
  }
  return left;
}

function filesBeforeCut(
  { events, folder }: Pick<Recorded, 'events' | 'folder'>,
  count: number,
): Map<string, FileState> {
  const files = new Map<string, FileState>();
  const fileAt = (path: string): FileState => {
    const file = files.get(path) ?? { image: new Image(), pending: [] };
    files.set(path, file);
    return file;
  };
  for (const event of events.slice(0, count)) {
    const file = fileAt(event.path);
    if (event.kind === 'write' || event.kind === 'truncation') file.pending.push(event);
    else if (event.kind === 'sync') {
      for (const change of file.pending) file.image.apply(change, always);
      file.pending = [];
    } else {
      files.delete(event.path);
      if (event.kind === 'rename') files.set(relative(folder, event.bytes.toString('utf8')), file);
    }
  }
  return files;
}

/** The folder itself shows up as a synced file without a name; only what is a file of the writer is written. */
export function writeDisk(files: ReadonlyMap<string, Buffer>, folder: string): void {
  for (const [path, content] of files) {
    if (path === '') continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
