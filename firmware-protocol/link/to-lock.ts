/**
 * What a gateway tells a lock. Every command has a number, which is carried out once in a session, and the last instant
 * of the lock's own clock at which it may be begun.
 */
import { bytes, choice, digits, optional, text, uint } from './field.ts';
import type { MessageOf, MessageTable } from './message.ts';

const u32 = 0xffff_ffff;
/** Unix seconds that fit 32 bits: until the year 2106. */
const seconds = (key: number) => uint(key, 0, u32);
/** A keypad lock's place for a code. */
const slot = uint(3, 0, 999);

const command = {
  /** 1 and more, ascending within a session. */
  request: uint(1, 1, u32),
  /** Milliseconds of the lock's uptime; begun later it is `expired`. */
  notAfterUptime: uint(2, 0, Number.MAX_SAFE_INTEGER),
};

const settings = ['relock-on-open', 'buzzer', 'keypad-light', 'auto-lock-seconds', 'report-seconds'] as const;

export const toLock = {
  /** Passable for `ms` by the lock's own timer, then as it was. */
  release: { code: 1, fields: { ...command, ms: uint(3, 100, 600_000) } },
  secure: { code: 2, fields: command },
  /** Passable until told otherwise. */
  free: { code: 3, fields: command },
  /** Answered by `status`; a question, and so answered anew each time. */
  query: { code: 4, fields: command },
  configure: { code: 5, fields: { ...command, setting: choice(3, settings), value: uint(4, 0, u32) } },
  time: { code: 6, fields: { ...command, unixSeconds: seconds(3) } },
  /** A slot without window is valid always; a lock that cannot keep a window answers `unsupported` and sets nothing. */
  'slots-set': {
    code: 7,
    fields: { ...command, slot, code: digits(4, 4, 10), from: optional(seconds(5)), until: optional(seconds(6)) },
  },
  'slots-clear': { code: 8, fields: { ...command, slot } },
  /** Answered by `slot`; a question. */
  'slots-read': { code: 9, fields: { ...command, slot } },
  /** From now on a handshake under either key is answered, until one under the new key is confirmed. */
  'key-rotate': { code: 10, fields: { ...command, key: bytes(3, 32, 32) } },
  /** `signature` is the vendor's over the digest, and the lock's business. */
  'firmware-begin': {
    code: 11,
    fields: {
      ...command,
      size: uint(3, 1, 16 * 2 ** 20),
      sha256: bytes(4, 32, 32),
      version: text(5, 1, 32),
      signature: bytes(6, 64, 72),
    },
  },
  'firmware-chunk': { code: 12, fields: { ...command, offset: uint(3, 0, 16 * 2 ** 20), bytes: bytes(4, 1, 384) } },
  'firmware-commit': { code: 13, fields: command },
  reboot: { code: 14, fields: command },
} as const satisfies MessageTable;

export type ToLock = MessageOf<typeof toLock>;
export type ToLockKind = ToLock['kind'];

/** Messages that ask and change nothing: they may be answered any number of times. */
export const questions: readonly ToLockKind[] = ['query', 'slots-read'];
