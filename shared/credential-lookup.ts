/**
 * How a credential is found without its number being stored: a keyed hash over its kind and normalized value.
 *
 * Whoever makes credentials and whoever looks them up go through here, so that both arrive at the same value.
 * Not promised: secrecy of a card's number from whoever holds the lookup key; there are too few numbers for that.
 */
import { createKeyedHash } from './keyed-hash.ts';

export interface CredentialLookup {
  /**
   * @param normalized as the card's bits are normalized: the bit count, then the bits.
   * @returns 32 bytes in lower-case hexadecimal, as the other.
   */
  readonly ofCard: (normalized: Uint8Array) => string;
  /** @param slowHash of the PIN, 32 bytes, under the facility's salt. */
  readonly ofPin: (slowHash: Uint8Array) => string;
}

export function createCredentialLookup(lookupKey: Uint8Array): CredentialLookup {
  const keyed = createKeyedHash(lookupKey);
  return {
    ofCard: (normalized) => keyed(`card:${hexOf(normalized)}`),
    ofPin: (slowHash) => keyed(`pin:${hexOf(slowHash)}`),
  };
}

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

/** What a PIN passes before the keyed hash: all 10^6 six-digit PINs fall to a fast hash in seconds. */
export const pinSlowHash = { N: 16_384, r: 8, p: 1, bytes: 32 } as const;
