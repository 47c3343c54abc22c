/** Secrets of the cloud as files of their own: readable by their owner only, whole or not there. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type * as z from 'zod';

export class KeyFileFault extends Error {
  override readonly name = 'KeyFileFault';
  readonly code: 'KEY_FILE_MISSING' | 'KEY_FILE_OPEN_TO_OTHERS' | 'KEY_FILE_DAMAGED';
  readonly path: string;

  constructor({ code, path }: Pick<KeyFileFault, 'code' | 'path'>, options?: ErrorOptions) {
    super(`${code}: ${path}`, options);
    this.code = code;
    this.path = path;
  }
}

/** Atomic and synced: a crash leaves the former file. The folder is made where it is missing. */
export function writeKeyFile(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify(value, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** @throws KeyFileFault also where others could read it. */
export function readKeyFile<Schema extends z.ZodType>(path: string, schema: Schema): z.output<Schema> {
  const mode = modeOf(path);
  if (mode === undefined) throw new KeyFileFault({ code: 'KEY_FILE_MISSING', path });
  if ((mode & 0o077) !== 0) throw new KeyFileFault({ code: 'KEY_FILE_OPEN_TO_OTHERS', path });
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new KeyFileFault({ code: 'KEY_FILE_DAMAGED', path }, { cause: error });
  }
}

export const isKeyFile = (path: string): boolean => modeOf(path) !== undefined;

const modeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mode;
