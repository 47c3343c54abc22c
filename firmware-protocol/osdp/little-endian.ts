/**
 * Multi-byte integers as OSDP orders them: least significant byte first.
 * Readers take absent bytes as zero: the decoder has checked the length before.
 */
import { within } from './message-codec.ts';

export function readU16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/** Two's complement, −32768–32767. */
export function readI16(bytes: Uint8Array, at: number): number {
  return (readU16(bytes, at) << 16) >> 16;
}

export function readU32(bytes: Uint8Array, at: number): number {
  return readU16(bytes, at) + readU16(bytes, at + 2) * 0x10000;
}

/** @throws RangeError unless `value` is 0–65535. */
export function u16(value: number, what: string): readonly [number, number] {
  within(0xffff, value, what);
  return [value & 0xff, value >> 8];
}

/** @throws RangeError unless `value` is −32768–32767. */
export function i16(value: number, what: string): readonly [number, number] {
  within(0xffff, value + 0x8000, what);
  return [value & 0xff, (value >> 8) & 0xff];
}

/** @throws RangeError unless `value` is 0–4294967295. */
export function u32(value: number, what: string): readonly [number, number, number, number] {
  within(0xffffffff, value, what);
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24];
}
