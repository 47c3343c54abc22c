/**
 * Serial numbers of contactless cards (CSN, UID): 4, 7 or 8 bytes without parity.
 * Readers disagree about the order of the bytes, so the order is a setting of the reader.
 */

/** `reversed`: this reader sends the last byte first; its reads are turned round before anything looks at them. */
export type UidOrder = 'as-read' | 'reversed';

/** Whether a read of so many bits can be a serial number. */
export function isUidLength(bitCount: number): boolean {
  return bitCount === 32 || bitCount === 56 || bitCount === 64;
}
