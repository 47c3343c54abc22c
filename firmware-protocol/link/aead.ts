/**
 * ChaCha20-Poly1305 (RFC 8439) with the nonce of the Noise framework: four zero bytes and the counter, little-endian.
 *
 * Not promised: that a counter is used once; that is the owner's duty.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';

export const tagLength = 16;

const algorithm = 'chacha20-poly1305';
const options = { authTagLength: tagLength } as const;

function nonceOf(counter: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64LE(BigInt(counter), 4);
  return nonce;
}

/** @param counter 0 to 2^53 − 1. @returns ciphertext and tag. */
export function seal(key: Uint8Array, counter: number, associated: Uint8Array, clear: Uint8Array): Uint8Array {
  const cipher = createCipheriv(algorithm, key, nonceOf(counter), options);
  cipher.setAAD(associated, { plaintextLength: clear.length });
  const body = Buffer.concat([cipher.update(clear), cipher.final()]);
  return new Uint8Array(Buffer.concat([body, cipher.getAuthTag()]));
}

/** @returns `undefined` unless the tag holds. */
export function open(
  key: Uint8Array,
  counter: number,
  associated: Uint8Array,
  sealed: Uint8Array,
): Uint8Array | undefined {
  if (sealed.length < tagLength) return undefined;
  const end = sealed.length - tagLength;
  const decipher = createDecipheriv(algorithm, key, nonceOf(counter), options);
  decipher.setAAD(associated, { plaintextLength: end });
  decipher.setAuthTag(sealed.subarray(end));
  const clear = decipher.update(sealed.subarray(0, end));
  try {
    return new Uint8Array(Buffer.concat([clear, decipher.final()]));
  } catch {
    // The only failure of `final` here is a wrong tag; its error has no code of its own to ask for.
    return undefined;
  }
}
