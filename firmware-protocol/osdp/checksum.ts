/**
 * The one-byte check of OSDP frames, from before the CRC: the byte that makes the sum of the message zero modulo 256.
 *
 * Not promised: more than luck. Two swapped bytes pass; the secure channel and everything of ours use the CRC.
 */

/** @returns two's complement of the 8-bit sum, 0–255. */
export function checksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = (sum + byte) & 0xff;
  return -sum & 0xff;
}
