/**
 * One command on the line: its bytes, its sequence number and its place in the MAC chain.
 *
 * Guarantee: in a session every command carries a MAC, and its data is encrypted; a repeat is these same bytes.
 * Not promised: that anything answers. What counts as an answer is `panel-verdict.ts`.
 */
import { type Check, encodeFrame, type SecurityBlock, type Sequence } from './frame.ts';
import type { MessageBytes } from './message.ts';
import { encryptData, messageMac, type SessionKeys } from './secure-channel.ts';

/** A running secure session: its keys, and the 16 bytes the next command's MAC begins from. */
export interface PanelChannel {
  readonly keys: SessionKeys;
  readonly lastReplyMac: Uint8Array;
}

export interface PanelLink {
  readonly address: number;
  readonly check: Check;
  /** Of the next new command; 0 begins a conversation. */
  readonly sequence: Sequence;
  readonly channel: PanelChannel | undefined;
  /** The latest answers to commands that had to be repeated: a second copy of each may still come. At most four. */
  readonly repeated: readonly Uint8Array[];
}

export interface Exchange {
  readonly bytes: Uint8Array;
  readonly code: number;
  readonly sequence: Sequence;
  /** All 16 bytes; absent outside a session. */
  readonly commandMac: Uint8Array | undefined;
}

/** A conversation from its beginning: sequence 0, no session. */
export function freshLink(address: number, check: Check): PanelLink {
  return { address, check, sequence: 0, channel: undefined, repeated: [] };
}

export function nextSequence(sequence: Sequence): Sequence {
  return sequence === 3 ? 1 : ((sequence + 1) as Sequence);
}

/**
 * The bytes of a new command.
 * @param handshake the security block of a handshake message, which is always under CRC.
 * @throws RangeError if the frame would be longer than the standard allows.
 */
export function openExchange(link: PanelLink, message: MessageBytes, handshake?: SecurityBlock): Exchange {
  const { code, data } = message;
  const parts = { address: link.address, isReply: false, sequence: link.sequence, code } as const;
  const channel = link.channel;
  if (channel === undefined) {
    const check = handshake === undefined ? link.check : 'crc';
    const bytes = encodeFrame({ ...parts, check, security: handshake, data });
    return { bytes, code, sequence: link.sequence, commandMac: undefined };
  }
  const isEncrypted = data.length > 0;
  const security = { type: isEncrypted ? 0x17 : 0x15, data: new Uint8Array(0) };
  const body = isEncrypted ? encryptData(channel.keys, channel.lastReplyMac, data) : data;
  let commandMac: Uint8Array | undefined;
  const bytes = encodeFrame({ ...parts, check: 'crc', security, data: body }, (covered) => {
    commandMac = messageMac(channel.keys, channel.lastReplyMac, covered);
    return commandMac;
  });
  return { bytes, code, sequence: link.sequence, commandMac };
}
