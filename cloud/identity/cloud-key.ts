/**
 * The cloud's one secret: 32 bytes in a file that only its user reads. All that is kept secret derives from it.
 *
 * Every node of one cloud has the same file. A lost file is not made anew by itself where a database already depends on it.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { FaultCode } from '#shared/code.ts';

/** The key file cannot be used, and why. */
export class CloudKeyFault extends Error {
  override readonly name = 'CloudKeyFault';
  readonly code: FaultCode;

  constructor(file: string, options: ErrorOptions & { readonly code: FaultCode }) {
    super(`the key file ${file}`, options);
    this.code = options.code;
  }
}

const keyBytes = 32;
/** Bits by which others could read it. */
const othersMode = 0o077;

/** @throws CloudKeyFault MASTER_KEY_MISSING, MASTER_KEY_FORBIDDEN, MASTER_KEY_EXPOSED, MASTER_KEY_MALFORMED. */
export function readCloudKey(file: string): Buffer {
  try {
    if ((statSync(file).mode & othersMode) !== 0) throw new CloudKeyFault(file, { code: 'MASTER_KEY_EXPOSED' });
    const key = readFileSync(file);
    if (key.length !== keyBytes) throw new CloudKeyFault(file, { code: 'MASTER_KEY_MALFORMED' });
    return key;
  } catch (error) {
    if (error instanceof CloudKeyFault) throw error;
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new CloudKeyFault(file, { code: isMissing ? 'MASTER_KEY_MISSING' : 'MASTER_KEY_FORBIDDEN', cause: error });
  }
}

/** Makes the key where there is none; two programs that do so at once end with one key. @throws CloudKeyFault. */
export function openCloudKey(file: string): Buffer {
  try {
    return readCloudKey(file);
  } catch (error) {
    if (!(error instanceof CloudKeyFault) || error.code !== 'MASTER_KEY_MISSING') throw error;
  }
  try {
    // The embedded server may run as another user, who must pass through.
    mkdirSync(dirname(file), { recursive: true, mode: 0o711 });
    writeWhole(file);
  } catch (error) {
    throw new CloudKeyFault(file, { code: 'MASTER_KEY_FORBIDDEN', cause: error });
  }
  return readCloudKey(file);
}

/** The name appears with all of its bytes behind it, and never replaces a file that is there. */
function writeWhole(file: string): void {
  const part = `${file}.${randomBytes(4).toString('hex')}`;
  const handle = openSync(part, 'wx', 0o400);
  try {
    writeSync(handle, randomBytes(keyBytes));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    linkSync(part, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(part);
  }
}
