/**
 * Seals what must not be readable from a stolen disk under the master key.
 *
 * Guarantees: AES-256-GCM with a fresh nonce; the name is associated data, so that one key cannot be put in the place
 * of another; what was changed does not open.
 * Not promised: secrecy from whoever holds the master key, which without a TPM is whoever holds the machine.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { deriveKey, isSameCode } from '../store/row-code.ts';

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headerBytes = 1 + nonceBytes;

/** @returns version ‖ nonce ‖ ciphertext ‖ tag. */
export function sealBytes(masterKey: Uint8Array, name: string, bytes: Uint8Array): Uint8Array {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(masterKey), nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(name, 'utf8'));
  const text = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return new Uint8Array(Buffer.concat([Buffer.of(version), nonce, text, cipher.getAuthTag()]));
}

/** @returns `undefined` if it is not what was sealed under this key and name. */
export function unsealBytes(masterKey: Uint8Array, name: string, sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length < headerBytes + tagBytes || sealed[0] !== version) return undefined;
  const nonce = sealed.subarray(1, headerBytes);
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(masterKey), nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(name, 'utf8'));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const text = decipher.update(sealed.subarray(headerBytes, sealed.length - tagBytes));
  try {
    return new Uint8Array(Buffer.concat([text, decipher.final()]));
  } catch {
    // The one thing `final` throws for: the tag does not fit.
    return undefined;
  }
}

const sealingKey = (masterKey: Uint8Array): Uint8Array => deriveKey(masterKey, 'sealed keys');

/**
 * Names the master key in a file without telling it: 8 derived bytes and 8 that check them.
 * So a wrong key is told from a torn file.
 */
export function keyPrint(masterKey: Uint8Array): Uint8Array {
  const print = deriveKey(masterKey, 'key print').subarray(0, 8);
  return new Uint8Array([...print, ...printCheck(print)]);
}

export function judgeKeyPrint(masterKey: Uint8Array, stored: Uint8Array): 'right-key' | 'wrong-key' | 'torn' {
  if (isSameCode(stored, keyPrint(masterKey))) return 'right-key';
  return stored.length === 16 && isSameCode(stored.subarray(8), printCheck(stored.subarray(0, 8)))
    ? 'wrong-key'
    : 'torn';
}

const printCheck = (print: Uint8Array): Uint8Array => createHash('sha256').update(print).digest().subarray(0, 8);
