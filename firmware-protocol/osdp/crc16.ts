/**
 * CRC-16 of OSDP frames: polynomial 0x1021, initial value 0x1D0F, no reflection, no final xor.
 *
 * The initial value equals CRC-16/CCITT started at 0xFFFF over two zero bytes (SIA OSDP, annex on the CRC).
 * It finds line noise; it is no protection against a person.
 */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** @returns the check value, 0–65535; on the wire low byte first. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0x1d0f;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (table[((crc >> 8) ^ byte) & 0xff] ?? 0);
  return crc;
}
