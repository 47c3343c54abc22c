/**
 * PDCAP (46): what the peripheral says it can do, three bytes a function. Plain and forgeable: security is never
 * decided by it.
 *
 * Tolerant, since readers are not: functions may be sparse, repeated or unknown, and a broken last entry is left out.
 */
import { byte, type MessageCodec } from '../message-codec.ts';

export interface Capability {
  /** See `capabilityFunction`; unknown numbers are kept. */
  readonly function: number;
  /** What it can do, by function. In 10 and 11 the low byte of a length. */
  readonly level: number;
  /** How many there are, by function. In 10 and 11 the high byte of a length. */
  readonly count: number;
}

export interface CapabilitiesReply {
  readonly kind: 'capabilities';
  readonly capabilities: readonly Capability[];
}

export const capabilityFunction = {
  inputs: 1,
  outputs: 2,
  cardData: 3,
  leds: 4,
  buzzer: 5,
  text: 6,
  time: 7,
  check: 8,
  security: 9,
  receiveBuffer: 10,
  combinedMessage: 11,
  smartCard: 12,
  readers: 13,
  biometrics: 14,
  securePin: 15,
  version: 16,
} as const;

const entryLength = 3;

export const capabilitiesReply: MessageCodec<CapabilitiesReply> = {
  kind: 'capabilities',
  code: 0x46,
  encode: ({ capabilities }) =>
    Uint8Array.from(
      capabilities.flatMap((entry) => [
        byte(entry.function, 'function'),
        byte(entry.level, 'level'),
        byte(entry.count, 'count'),
      ]),
    ),
  decode: (data) => {
    const capabilities: Capability[] = [];
    for (let at = 0; at + entryLength <= data.length; at += entryLength) {
      capabilities.push({ function: data[at] ?? 0, level: data[at + 1] ?? 0, count: data[at + 2] ?? 0 });
    }
    return { kind: 'capabilities', capabilities };
  },
};

/** The first entry of a function, if the peripheral named it. */
export function findCapability(reply: CapabilitiesReply, number: number): Capability | undefined {
  return reply.capabilities.find((entry) => entry.function === number);
}

/** Longest frame the peripheral says it receives (function 10), bytes; `undefined` if it does not say or says 0. */
export function receiveBufferOf(reply: CapabilitiesReply): number | undefined {
  const entry = findCapability(reply, capabilityFunction.receiveBuffer);
  return entry === undefined ? undefined : entry.level + entry.count * 0x100 || undefined;
}
