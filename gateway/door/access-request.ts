/**
 * What a reader asked of a door: somebody presented something, here, then.
 * Made by the shell from device events; nothing in it has been believed yet.
 */
import type { DeviceId, RequestId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';

/** Raw card bits as the reader sent them: left-justified, most significant first, spare bits of the last byte zero. */
export interface CardBits {
  readonly bitCount: number;
  readonly bytes: Uint8Array;
}

export type Presented =
  | { readonly kind: 'card'; readonly card: CardBits }
  | { readonly kind: 'pin'; readonly digits: string }
  /** The PIN that answers a challenge; `card` is what was challenged. */
  | { readonly kind: 'card-and-pin'; readonly card: CardBits; readonly digits: string };

export interface AccessRequest {
  readonly requestId: RequestId;
  readonly device: DeviceId;
  /** Reader number on the device, from 0. */
  readonly head: number;
  readonly presented: Presented;
  /** When its last byte came off the line; for a PIN, the last key. */
  readonly receivedAt: MonoMs;
  /** Age the device itself reports at that moment, ms; 0 where it reports none. */
  readonly deviceAgeMs: number;
}
