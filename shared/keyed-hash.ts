/**
 * HMAC-SHA-256 (RFC 2104) over text, for where it is computed several times in one decision.
 *
 * Two one-shot hashes over kept pads: an `Hmac` object costs about twice as much as the hashing it does.
 * Guarantee: the same bytes as `createHmac('sha256', key)` over the text's UTF-8.
 * Not promised: a key that is wiped from memory.
 */
import { hash } from 'node:crypto';

/** @returns 32 bytes in lower-case hexadecimal. */
export type KeyedHash = (text: string) => string;

const blockBytes = 64;
const digestBytes = 32;
/** UTF-8 needs at most this many bytes for one UTF-16 unit. */
const bytesPerUnitMax = 3;

export function createKeyedHash(key: Uint8Array): KeyedHash {
  const block = Buffer.alloc(blockBytes);
  if (key.length > blockBytes) block.write(hash('sha256', key, 'hex'), 'hex');
  else block.set(key);
  const innerPad = block.map((byte) => byte ^ 0x36);
  let inner = Buffer.alloc(1024);
  inner.set(innerPad);
  const outer = Buffer.alloc(blockBytes + digestBytes);
  outer.set(block.map((byte) => byte ^ 0x5c));

  return (text) => {
    const bytesMax = blockBytes + text.length * bytesPerUnitMax;
    if (bytesMax > inner.length) {
      inner = Buffer.alloc(bytesMax);
      inner.set(innerPad);
    }
    const length = inner.write(text, blockBytes, 'utf8');
    outer.write(hash('sha256', inner.subarray(0, blockBytes + length), 'hex'), blockBytes, 'hex');
    return hash('sha256', outer, 'hex');
  };
}

/** A key for one purpose, so that a code made for one thing is never valid for another. */
export function deriveHashKey(key: Uint8Array, purpose: string): Buffer {
  return Buffer.from(createKeyedHash(key)(purpose), 'hex');
}
