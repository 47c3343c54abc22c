/** What a lock tells a gateway. Every message carries the lock's uptime, by which its delay is judged. */
import { bytes, choice, digits, flag, keypad, optional, text, uint } from './field.ts';
import type { MessageOf, MessageTable } from './message.ts';

const u32 = 0xffff_ffff;

/** Milliseconds since the lock started; ascending until it starts again. */
const told = { uptime: uint(1, 0, Number.MAX_SAFE_INTEGER) };
const answered = { ...told, request: uint(2, 1, u32) };
/** How long before this message it happened, ms; at the most an hour is told. */
const happened = { ...told, ageMs: uint(2, 0, 3_600_000) };

export const results = ['done', 'expired', 'jammed', 'busy', 'low-battery', 'unsupported', 'fault'] as const;
export type Result = (typeof results)[number];

/** What a lock can do, by bit of `abilities`. */
export const abilities = [
  'contact',
  'free',
  'slots',
  'slot-windows',
  'slot-read-back',
  'keypad',
  'cards',
  'firmware',
] as const;

const occurrences = [
  'opened',
  'closed',
  'released',
  'secured',
  'jammed',
  'jam-cleared',
  'tampered',
  'tamper-cleared',
  'battery-low',
  /** Opened from inside or by a mechanical key. */
  'opened-by-hand',
  /** `detail` is the slot. */
  'slot-used',
  'slot-cleared',
  /** Handshakes with a wrong key; `detail` is how many since the start. */
  'wrong-key',
] as const;

export const fromLock = {
  /** Stands in the answer to a handshake. */
  identity: {
    code: 32,
    fields: {
      ...told,
      vendor: text(2, 1, 32),
      model: text(3, 1, 32),
      serial: text(4, 1, 32),
      firmware: text(5, 1, 32),
      abilities: uint(6, 0, u32),
    },
  },
  /** `isRepeated`: the answer of the first time, out of memory. */
  ack: { code: 33, fields: { ...answered, result: choice(3, results), isRepeated: flag(4) } },
  /** `request` where it answers a query. */
  status: {
    code: 34,
    fields: {
      ...told,
      request: optional(uint(2, 1, u32)),
      bolt: choice(3, ['unknown', 'secured', 'released', 'moving']),
      contact: choice(4, ['unknown', 'closed', 'open']),
      /** Percent; absent where it has none. */
      battery: optional(uint(5, 0, 100)),
      isTampered: flag(6),
      isJammed: flag(7),
      firmware: text(8, 1, 32),
    },
  },
  /** The bits of a card, first bit in the top bit of the first byte; the last `unusedBits` of the last byte are none. */
  card: { code: 35, fields: { ...happened, bits: bytes(3, 1, 32), unusedBits: uint(4, 0, 7) } },
  keys: { code: 36, fields: { ...happened, keys: keypad(3, 1, 16) } },
  token: { code: 37, fields: { ...happened, token: bytes(3, 1, 400) } },
  event: { code: 38, fields: { ...happened, what: choice(3, occurrences), detail: optional(uint(4, 0, u32)) } },
  log: { code: 39, fields: { ...told, level: choice(2, ['info', 'warning', 'error']), text: text(3, 0, 200) } },
  /** What a slot holds; the code and window where the lock can tell them. */
  slot: {
    code: 40,
    fields: {
      ...answered,
      slot: uint(3, 0, 999),
      isSet: flag(4),
      code: optional(digits(5, 4, 10)),
      from: optional(uint(6, 0, u32)),
      until: optional(uint(7, 0, u32)),
    },
  },
} as const satisfies MessageTable;

export type FromLock = MessageOf<typeof fromLock>;
