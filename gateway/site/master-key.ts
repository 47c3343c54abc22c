/**
 * The one key under which all others are sealed: made once, by the package or a developer, and only read here.
 *
 * systemd hands it over as a credential (decrypted by the TPM where there is one); without systemd it is a file of
 * mode 0400 or 0600. 32 random bytes, nothing else.
 * Guarantees: a key that others can read is refused, not used with a warning; a missing one is never replaced in
 * passing, since everything sealed would be lost behind a new one.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { FaultCode } from '#shared/code.ts';
import { storeFault } from '../store/store-fault.ts';
import { syncFolder } from '../store/sync-folder.ts';

export type MasterKeyFaultCode = Extract<FaultCode, `MASTER_KEY_${string}`>;

export class MasterKeyFault extends Error {
  override readonly name = 'MasterKeyFault';
  readonly code: MasterKeyFaultCode;
  readonly path: string;

  constructor(what: { code: MasterKeyFaultCode; path: string; detail: string }, options?: ErrorOptions) {
    super(`${what.path}: ${what.detail}`, options);
    this.code = what.code;
    this.path = what.path;
  }
}

export const credentialName = 'kannuki-master-key';
const keyBytes = 32;

export interface MasterKeyPlace {
  /** Of the service manager (`$CREDENTIALS_DIRECTORY`), if there is one: it is looked into first. */
  readonly credentialsDirectory: string | undefined;
  /** From the configuration. */
  readonly file: string;
}

/**
 * Bits that nobody may have. A credential of systemd on tmpfs is opened to its service by an access list, whose mask
 * shows as the group's read bit; its folder is closed to everybody else.
 */
const forbiddenOfFile = 0o077;
const forbiddenOfCredential = 0o037;

/** Where the key is, or would have to be. */
function masterKeyPath(place: MasterKeyPlace): string {
  const credential = place.credentialsDirectory && join(place.credentialsDirectory, credentialName);
  return credential && existsSync(credential) ? credential : place.file;
}

/** @returns 32 bytes. @throws MasterKeyFault */
export function readMasterKey(place: MasterKeyPlace): Uint8Array {
  const path = masterKeyPath(place);
  const descriptor = openKey(path);
  try {
    const { mode } = fstatSync(descriptor);
    if ((mode & (path === place.file ? forbiddenOfFile : forbiddenOfCredential)) !== 0) {
      const shown = (mode & 0o777).toString(8).padStart(4, '0');
      throw new MasterKeyFault({
        code: 'MASTER_KEY_EXPOSED',
        path,
        detail: `its mode is ${shown}; only its owner may read it (0400)`,
      });
    }
    // One more than a key has, to notice a longer file.
    const buffer = new Uint8Array(keyBytes + 1);
    const length = readSync(descriptor, buffer);
    if (length !== keyBytes)
      throw new MasterKeyFault({ code: 'MASTER_KEY_MALFORMED', path, detail: `a key has ${keyBytes} bytes` });
    return buffer.slice(0, keyBytes);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Makes the key of a new installation, mode 0400.
 * @param dataDirectory must hold no database yet: what is there was sealed under another key.
 * @throws MasterKeyFault MASTER_KEY_NOT_FRESH if there is a key or data.
 */
export function createMasterKey(path: string, dataDirectory: string): Uint8Array {
  const data = existsSync(dataDirectory) ? readdirSync(dataDirectory).find((name) => name.includes('.db')) : undefined;
  if (data)
    throw new MasterKeyFault({
      code: 'MASTER_KEY_NOT_FRESH',
      path,
      detail: `${basename(dataDirectory)} already holds ${data}`,
    });
  const key = new Uint8Array(randomBytes(keyBytes));
  // Whole under its name or not there at all: half a key would have to be told from a damaged one at every later start.
  const part = `${path}.part`;
  rmSync(part, { force: true });
  const descriptor = createKeyFile(part);
  try {
    writeSync(descriptor, key);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  nameKeyFile(part, path);
  syncFolder(dirname(path));
  return key;
}

function openKey(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    const code = storeFault(error, path)?.code;
    if (code === 'STORE_MISSING')
      throw new MasterKeyFault(
        { code: 'MASTER_KEY_MISSING', path, detail: 'the file does not exist' },
        { cause: error },
      );
    if (code)
      throw new MasterKeyFault(
        { code: 'MASTER_KEY_FORBIDDEN', path, detail: 'the file cannot be read' },
        { cause: error },
      );
    throw error;
  }
}

function createKeyFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o400);
  } catch (error) {
    throw new MasterKeyFault(
      { code: 'MASTER_KEY_FORBIDDEN', path, detail: 'the file cannot be made' },
      { cause: error },
    );
  }
}

/** A link, since a rename would take the place of a key that appeared meanwhile. */
function nameKeyFile(part: string, path: string): void {
  try {
    linkSync(part, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
    throw new MasterKeyFault(
      { code: 'MASTER_KEY_NOT_FRESH', path, detail: 'there is a key already' },
      { cause: error },
    );
  } finally {
    rmSync(part, { force: true });
  }
}
