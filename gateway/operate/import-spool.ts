/**
 * An import on its way in: files arrive in pieces, lie in a folder of their own, and are gone when it is over.
 *
 * Bounded: one import at a time, its sizes announced and held to; what is abandoned is removed at the next begin or start.
 * Guarantee: pieces land in the order in which they came, and all of them have before the files are taken.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Arguments, ControlRefusal, chunkBytesMax, importBytesMax } from '../control/messages.ts';

interface Begun {
  readonly id: string;
  readonly folder: string;
  readonly files: Map<string, { readonly bytes: number; received: number }>;
  /** The last piece on its way to the disk. */
  written: Promise<void>;
}

export class ImportSpool {
  readonly #dataDir: string;
  #begun: Begun | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#clean();
  }

  begin({ files }: Arguments<'import-begin'>): string {
    const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > importBytesMax)
      throw new ControlRefusal('BAD_REQUEST', `an import holds at most ${importBytesMax} bytes, not ${total}`);
    if (new Set(files.map(({ name }) => name)).size !== files.length)
      throw new ControlRefusal('BAD_REQUEST', 'a file is named twice');
    const { bavail, bsize } = statfsSync(this.#dataDir);
    if (bavail * bsize < total * 4)
      throw new ControlRefusal('UNAVAILABLE', 'the disk has no room for this import [STORAGE_FULL]');
    this.#clean();
    const id = randomUUID();
    const folder = join(this.#dataDir, `import-${id}`);
    mkdirSync(folder, { mode: 0o700 });
    const awaited = new Map(files.map(({ name, bytes }) => [name, { bytes, received: 0 }]));
    this.#begun = { id, folder, files: awaited, written: Promise.resolve() };
    return id;
  }

  async put({ import: id, name, base64 }: Arguments<'import-chunk'>): Promise<void> {
    const begun = this.#find(id);
    const file = begun.files.get(name);
    const chunk = Buffer.from(base64, 'base64');
    if (!file) throw new ControlRefusal('BAD_REQUEST', `${name} was not announced`);
    if (chunk.length > chunkBytesMax || file.received + chunk.length > file.bytes)
      throw new ControlRefusal('BAD_REQUEST', `${name} is longer than announced`);
    file.received += chunk.length;
    const path = join(begun.folder, name);
    begun.written = begun.written.then(() => appendFile(path, chunk, { mode: 0o600 }));
    await begun.written;
  }

  /** @returns the complete files; `end` must be called when they have been used. */
  async take(id: string): Promise<readonly { readonly name: string; readonly bytes: Uint8Array }[]> {
    const { files, folder, written } = this.#find(id);
    await written;
    for (const [name, { bytes, received }] of files) {
      if (received !== bytes) throw new ControlRefusal('BAD_REQUEST', `${name} has ${received} of ${bytes} bytes`);
    }
    return Promise.all(
      [...files.keys()].map(async (name) => ({ name, bytes: new Uint8Array(await readFile(join(folder, name))) })),
    );
  }

  /** Removes that import; another one that has begun since is left alone. */
  end(id: string): void {
    if (this.#begun?.id === id) this.#clean();
  }

  #find(id: string): Begun {
    if (this.#begun?.id !== id)
      throw new ControlRefusal('NOT_FOUND', 'no such import; another one may have begun since');
    return this.#begun;
  }

  #clean(): void {
    this.#begun = undefined;
    for (const name of readdirSync(this.#dataDir)) {
      if (/^import-[0-9a-f-]{36}$/.test(name)) rmSync(join(this.#dataDir, name), { recursive: true, force: true });
    }
  }
}
