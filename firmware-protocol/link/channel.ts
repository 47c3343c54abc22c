/**
 * A running session: one key and one counter a direction.
 *
 * Guarantees: a counter is used once to send; what is received has a counter above all received before, so that nothing
 * is taken twice and nothing late overtakes. Not promised: that everything arrives; gaps are allowed.
 */
import { open, seal } from './aead.ts';
import type { NoiseKeys } from './noise.ts';
import { encodeRecordHead, type Packet } from './packet.ts';

export interface Channel {
  readonly sendKey: Uint8Array;
  readonly receiveKey: Uint8Array;
  /** Of the next record; the first is 0. */
  readonly sendCounter: number;
  /** Of the last record received; −1 before the first. */
  readonly receivedCounter: number;
}

export function openChannel(keys: NoiseKeys, role: 'gateway' | 'lock'): Channel {
  const isGateway = role === 'gateway';
  return {
    sendKey: isGateway ? keys.toResponder : keys.toInitiator,
    receiveKey: isGateway ? keys.toInitiator : keys.toResponder,
    sendCounter: 0,
    receivedCounter: -1,
  };
}

/** The packet of a record, and the channel after it. @param clear at most 480 bytes. */
export function sealRecord(
  channel: Channel,
  clear: Uint8Array,
): { readonly channel: Channel; readonly bytes: Uint8Array } {
  const head = encodeRecordHead(channel.sendCounter);
  const sealed = seal(channel.sendKey, channel.sendCounter, head, clear);
  const bytes = new Uint8Array(head.length + sealed.length);
  bytes.set(head);
  bytes.set(sealed, head.length);
  return { channel: { ...channel, sendCounter: channel.sendCounter + 1 }, bytes };
}

export type RecordOpening =
  | { readonly kind: 'opened'; readonly channel: Channel; readonly clear: Uint8Array }
  /** `old`: a good record of this session that was received before, or overtaken. */
  | { readonly kind: 'refused'; readonly reason: 'not-authentic' | 'old' };

/** Checks the tag before the counter, so that only the session's own records count as old. */
export function openRecord(channel: Channel, record: Extract<Packet, { readonly kind: 'record' }>): RecordOpening {
  const clear = open(channel.receiveKey, record.counter, record.head, record.sealed);
  if (clear === undefined) return { kind: 'refused', reason: 'not-authentic' };
  if (record.counter <= channel.receivedCounter) return { kind: 'refused', reason: 'old' };
  return { kind: 'opened', channel: { ...channel, receivedCounter: record.counter }, clear };
}
