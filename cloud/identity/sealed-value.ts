/**
 * Values that stand in the database and must not be read from a copy of it: AES-256-GCM under the cloud's key file.
 *
 * Each value is bound to a name (what it is, of whom), so that one cannot be put in another's place.
 * Layout: version 1, key mark (4 bytes), nonce (12), ciphertext, tag (16).
 * Not promised: secrecy from whoever holds the key file too.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { deriveHashKey } from '#shared/keyed-hash.ts';

export interface Sealer {
  /** @param name what is sealed and of whom, e.g. `lookup key fac_…`. */
  readonly seal: (name: string, value: Uint8Array) => Buffer;
  /** @throws SealBroken for another key, another name, or a changed value. */
  readonly open: (name: string, sealed: Uint8Array) => Buffer;
}

/** The value does not open: the key file is another, or the row was changed. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
  readonly code = 'SEAL_BROKEN';

  constructor(name: string, options?: ErrorOptions) {
    super(`${name} does not open`, options);
  }
}

const version = 1;
const markBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + markBytes + nonceBytes;

/** @param cloudKey 32 bytes of the key file. */
export function createSealer(cloudKey: Uint8Array): Sealer {
  const key = deriveHashKey(cloudKey, 'kannuki cloud seal');
  const mark = Buffer.from(hash('sha256', key, 'hex'), 'hex').subarray(0, markBytes);
  return {
    seal(name, value) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(Buffer.from(name, 'utf8'));
      const body = Buffer.concat([cipher.update(value), cipher.final()]);
      return Buffer.concat([Buffer.of(version), mark, nonce, body, cipher.getAuthTag()]);
    },
    open(name, given) {
      const sealed = Buffer.from(given);
      const isOurs = sealed[0] === version && sealed.subarray(1, 1 + markBytes).equals(mark);
      if (!isOurs || sealed.length < headBytes + tagBytes) throw new SealBroken(name);
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1 + markBytes, headBytes));
      decipher.setAAD(Buffer.from(name, 'utf8'));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(headBytes, -tagBytes)), decipher.final()]);
      } catch (error) {
        throw new SealBroken(name, { cause: error });
      }
    },
  };
}
