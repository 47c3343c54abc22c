/**
 * What of a frame may be kept in a capture file.
 *
 * Guarantee: only messages whose data is known to be harmless keep it. Of all others it is zeroed behind their fixed
 * head, the MAC with it, and the check is made anew, since a check over a short secret gives the secret away.
 * A key that is being set is zeroed even as ciphertext; other ciphertext stays, unless it is under the key everybody
 * knows.
 * Not promised: secrecy of who came when; a capture shows that a card was read, and how many keys were pressed.
 */
import { encodeFrame, type Frame, macLength } from '#protocol/osdp/frame.ts';

const keySet = 0x75;

/** Commands and replies whose data names no person, key or card. */
const harmlessCommands: ReadonlySet<number> = new Set([
  0x60, 0x61, 0x62, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6e, 0x76, 0x77, 0x7b, 0xa2, 0xa7,
]);
const harmlessReplies: ReadonlySet<number> = new Set([
  0x40, 0x41, 0x45, 0x46, 0x48, 0x49, 0x4a, 0x4b, 0x54, 0x76, 0x78, 0x79, 0x7a,
]);
/** Bytes at the beginning of other messages that say only what and how much: reader, format, length, offset, vendor. */
const commandHeads: ReadonlyMap<number, number> = new Map([
  [0x6b, 6],
  [0x74, 6],
  [keySet, 2],
  [0x7c, 11],
  [0x80, 3],
  [0xa1, 2],
  [0xa4, 6],
  [0xa5, 6],
]);
const replyHeads: ReadonlyMap<number, number> = new Map([
  [0x50, 4],
  [0x51, 3],
  [0x53, 2],
  [0x57, 6],
  [0x80, 6],
  [0x81, 6],
  [0x82, 6],
  [0x90, 3],
  [0xb1, 2],
]);

/** @returns the message from SOM to check, of the same length and with a good check. */
export function redactFrame(frame: Frame, isUnderPublicKey: boolean): Uint8Array {
  const keep = keptLength(frame, isUnderPublicKey);
  if (keep >= frame.data.length) return frame.bytes;
  const data = new Uint8Array(frame.data.length);
  data.set(frame.data.subarray(0, keep));
  return encodeFrame({ ...frame, data }, () => new Uint8Array(macLength));
}

function keptLength(frame: Frame, isUnderPublicKey: boolean): number {
  const isCiphertext = frame.security?.type === 0x17 || frame.security?.type === 0x18;
  const isKey = !frame.isReply && frame.code === keySet;
  if (isCiphertext) return isKey || isUnderPublicKey ? 0 : frame.data.length;
  if ((frame.isReply ? harmlessReplies : harmlessCommands).has(frame.code)) return frame.data.length;
  return (frame.isReply ? replyHeads : commandHeads).get(frame.code) ?? 0;
}
