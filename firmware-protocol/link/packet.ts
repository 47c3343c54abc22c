/**
 * What one transport unit carries: a message of the handshake, a record, or the word that a lock cannot read one.
 *
 * Every packet begins with the version and its type. A record's head is authenticated with it. Guarantee: the decoder
 * takes anything; what it calls a packet is one in shape only, and believed only after its tag was checked.
 */
import { tagLength } from './aead.ts';
import { longestMap } from './flat-map.ts';
import { shortestMessage } from './noise.ts';

const version = 1;

const packetType = { hello: 1, welcome: 2, record: 3, refusal: 4 } as const;

/** Version, type, counter. */
const recordHead = 10;
export const longestPacket = recordHead + longestMap + tagLength;

/** Why a lock does not take a packet. Anybody can say so: it may hasten a handshake, and end nothing. */
export const refusalReasons = ['no-session', 'wrong-key', 'too-soon'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export type Packet =
  /** The gateway's message of the handshake. */
  | { readonly kind: 'hello'; readonly noise: Uint8Array }
  | { readonly kind: 'welcome'; readonly noise: Uint8Array }
  /** @param counter 0 to 2^53 − 1. @param head what is authenticated beside `sealed`. */
  | { readonly kind: 'record'; readonly counter: number; readonly head: Uint8Array; readonly sealed: Uint8Array }
  | { readonly kind: 'refusal'; readonly reason: RefusalReason };

export function encodeHello(noise: Uint8Array): Uint8Array {
  return Uint8Array.from([version, packetType.hello, ...noise]);
}

export function encodeWelcome(noise: Uint8Array): Uint8Array {
  return Uint8Array.from([version, packetType.welcome, ...noise]);
}

export function encodeRefusal(reason: RefusalReason): Uint8Array {
  return Uint8Array.of(version, packetType.refusal, refusalReasons.indexOf(reason));
}

/** @param counter 0 to 2^53 − 1. */
export function encodeRecordHead(counter: number): Uint8Array {
  const head = Buffer.alloc(recordHead);
  head[0] = version;
  head[1] = packetType.record;
  head.writeBigUInt64BE(BigInt(counter), 2);
  return new Uint8Array(head);
}

/** @returns `undefined` for what is no packet of this version. */
export function decodePacket(bytes: Uint8Array): Packet | undefined {
  if (bytes.length > longestPacket || bytes[0] !== version) return undefined;
  const body = bytes.subarray(2);
  switch (bytes[1]) {
    case packetType.hello:
      return body.length === shortestMessage ? { kind: 'hello', noise: body } : undefined;
    case packetType.welcome:
      return body.length > shortestMessage ? { kind: 'welcome', noise: body } : undefined;
    case packetType.record:
      return decodeRecord(bytes);
    case packetType.refusal: {
      const reason = body.length === 1 ? refusalReasons[body[0] ?? 0] : undefined;
      return reason && { kind: 'refusal', reason };
    }
    default:
      return undefined;
  }
}

function decodeRecord(bytes: Uint8Array): Packet | undefined {
  if (bytes.length < recordHead + tagLength) return undefined;
  const head = bytes.subarray(0, recordHead);
  const counter = Number(Buffer.from(head).readBigUInt64BE(2));
  return Number.isSafeInteger(counter)
    ? { kind: 'record', counter, head, sealed: bytes.subarray(recordHead) }
    : undefined;
}
