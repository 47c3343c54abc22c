/**
 * The cryptography of OSDP's secure channel: session keys, cryptograms, the rolling MAC, data encryption (AES-128).
 *
 * Guarantees: nothing here throws on bytes from the wire; comparisons of secrets take constant time; keys are only
 * ever arguments and results. Not promised: forward secrecy, or any secrecy at all under the public default key.
 * Formulas: SIA OSDP 2.2, annex on the secure channel; checked against the numbers of its test annex.
 */
import { createCipheriv, createDecipheriv, timingSafeEqual } from 'node:crypto';

const blockLength = 16;
const keyLength = 16;

/** SCBK-D, which everybody knows: 30 31 … 3F. */
export const defaultKey: Uint8Array = Uint8Array.from({ length: keyLength }, (_, index) => 0x30 + index);

/** The three keys of one session, 16 bytes each. */
export interface SessionKeys {
  readonly encryption: Uint8Array;
  readonly mac1: Uint8Array;
  readonly mac2: Uint8Array;
}

const encryptBlock = (key: Uint8Array, block: Uint8Array): Uint8Array => {
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  return new Uint8Array(cipher.update(block));
};

const encryptChain = (key: Uint8Array, iv: Uint8Array, blocks: Uint8Array): Uint8Array => {
  const cipher = createCipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  return new Uint8Array(cipher.update(blocks));
};

const join = (first: Uint8Array, second: Uint8Array): Uint8Array => new Uint8Array([...first, ...second]);

/** @param panelNonce RND.A, 8 bytes, of which the first six enter. */
export function deriveSessionKeys(key: Uint8Array, panelNonce: Uint8Array): SessionKeys {
  const derive = (first: number, second: number): Uint8Array => {
    const block = new Uint8Array(blockLength);
    block.set([first, second]);
    block.set(panelNonce.subarray(0, 6), 2);
    return encryptBlock(key, block);
  };
  return { encryption: derive(0x01, 0x82), mac1: derive(0x01, 0x01), mac2: derive(0x01, 0x02) };
}

/** What the peripheral shows to prove the key: E(S-ENC, RND.A ‖ RND.B). */
export function peripheralCryptogram(
  keys: SessionKeys,
  panelNonce: Uint8Array,
  peripheralNonce: Uint8Array,
): Uint8Array {
  return encryptBlock(keys.encryption, join(panelNonce, peripheralNonce));
}

/** What the panel shows to prove the key: E(S-ENC, RND.B ‖ RND.A). */
export function panelCryptogram(keys: SessionKeys, panelNonce: Uint8Array, peripheralNonce: Uint8Array): Uint8Array {
  return encryptBlock(keys.encryption, join(peripheralNonce, panelNonce));
}

/** R-MAC-I, where the chain begins: E(S-MAC2, E(S-MAC1, panel cryptogram)). */
export function initialReplyMac(keys: SessionKeys, cryptogram: Uint8Array): Uint8Array {
  return encryptBlock(keys.mac2, encryptBlock(keys.mac1, cryptogram));
}

/** Appends 80 and zeros up to a whole number of blocks. */
function pad(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array((Math.floor(bytes.length / blockLength) + 1) * blockLength);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  return padded;
}

/**
 * The MAC of one message, 16 bytes: CBC with S-MAC1, the last block with S-MAC2.
 * @param previous the chain so far: for a command the last reply's MAC, for a reply the MAC of the command it answers.
 * @param covered the message from SOM to the last byte before the MAC, at least one byte.
 */
export function messageMac(keys: SessionKeys, previous: Uint8Array, covered: Uint8Array): Uint8Array {
  const blocks = covered.length % blockLength === 0 ? covered : pad(covered);
  const head = blocks.length - blockLength;
  const chained =
    head === 0 ? previous : encryptChain(keys.mac1, previous, blocks.subarray(0, head)).subarray(-blockLength);
  return encryptChain(keys.mac2, chained, blocks.subarray(head));
}

/** Each message is encrypted under the complement of the chain value that its MAC starts from. */
const complement = (previous: Uint8Array): Uint8Array => previous.map((byte) => ~byte & 0xff);

/** Encrypts the data of one message; always padded, so that 16 bytes become 32. */
export function encryptData(keys: SessionKeys, previous: Uint8Array, data: Uint8Array): Uint8Array {
  return encryptChain(keys.encryption, complement(previous), pad(data));
}

/** @returns the data, or `undefined` where length or padding is wrong. Verify the MAC first. */
export function decryptData(keys: SessionKeys, previous: Uint8Array, encrypted: Uint8Array): Uint8Array | undefined {
  if (encrypted.length === 0 || encrypted.length % blockLength !== 0) return undefined;
  const decipher = createDecipheriv('aes-128-cbc', keys.encryption, complement(previous)).setAutoPadding(false);
  const padded = new Uint8Array(decipher.update(encrypted));
  let end = padded.length;
  while (end > padded.length - blockLength && padded[end - 1] === 0) end -= 1;
  return end > 0 && padded[end - 1] === 0x80 ? padded.slice(0, end - 1) : undefined;
}

/** Compares two secrets in constant time; secrets of different lengths differ. */
export function isSameSecret(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/**
 * Whether a key may be given to a reader or trusted from one: 16 bytes, not all zero, not the public default,
 * and none of `others`, the keys already in use (two readers never share one).
 */
export function isUsableKey(key: Uint8Array, others: readonly Uint8Array[] = []): boolean {
  if (key.length !== keyLength || key.every((byte) => byte === 0)) return false;
  return [defaultKey, ...others].every((known) => !isSameSecret(known, key));
}
