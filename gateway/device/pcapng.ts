/**
 * Blocks of a pcapng capture file (the format of the IETF draft "PCAP Next Generation Capture File Format"), little-endian.
 *
 * Guarantee: each function gives one whole block; a section header, then an interface block for each line before its
 * first packet, then packets, is a file that common tools open, also when it ends after any block.
 * Pure: bytes out, no file.
 */

/** Link type of frames that no registered type describes (USER0): the reader of the file says what they are. */
const userLinkType = 147;

const blockType = { sectionHeader: 0x0a0d0d0a, interfaceDescription: 1, enhancedPacket: 6 } as const;
const option = { end: 0, comment: 1, interfaceName: 2, packetFlags: 2, timeResolution: 9, application: 4 } as const;
const microseconds = 6;
const longestText = 1_000;

export interface CapturePacket {
  /** Number of its interface block in the section, from 0. */
  readonly interface: number;
  /** Microseconds since 1970-01-01T00:00:00Z. */
  readonly atMicroseconds: bigint;
  readonly direction: 'inbound' | 'outbound';
  readonly bytes: Uint8Array;
  /** How long it was on the line; more than `bytes` where bytes were left out. */
  readonly originalLength: number;
  /** Shown beside the packet; cut at 1000 characters. */
  readonly comment: string;
}

/** @param application named in the file as its writer. */
export function encodeSectionHeader(application: string): Uint8Array {
  const body = new Uint8Array(16);
  const view = new DataView(body.buffer);
  view.setUint32(0, 0x1a2b3c4d, true);
  view.setUint16(4, 1, true);
  view.setUint16(6, 0, true);
  // The section's length is not known before its end.
  view.setBigInt64(8, -1n, true);
  return block(blockType.sectionHeader, [body, textOption(option.application, application), endOption]);
}

/** @param longestPacket bytes. */
export function encodeInterface(name: string, longestPacket: number): Uint8Array {
  const body = new Uint8Array(8);
  const view = new DataView(body.buffer);
  view.setUint16(0, userLinkType, true);
  view.setUint32(4, longestPacket, true);
  return block(blockType.interfaceDescription, [
    body,
    textOption(option.interfaceName, name),
    encodeOption(option.timeResolution, Uint8Array.of(microseconds)),
    endOption,
  ]);
}

export function encodePacket(packet: CapturePacket): Uint8Array {
  const body = new Uint8Array(20);
  const view = new DataView(body.buffer);
  view.setUint32(0, packet.interface, true);
  view.setUint32(4, Number(packet.atMicroseconds >> 32n), true);
  view.setUint32(8, Number(packet.atMicroseconds & 0xffffffffn), true);
  view.setUint32(12, packet.bytes.length, true);
  view.setUint32(16, packet.originalLength, true);
  return block(blockType.enhancedPacket, [
    body,
    padded(packet.bytes),
    encodeOption(option.packetFlags, Uint8Array.of(packet.direction === 'inbound' ? 1 : 2, 0, 0, 0)),
    textOption(option.comment, packet.comment),
    endOption,
  ]);
}

const endOption = new Uint8Array(4);

function textOption(code: number, text: string): Uint8Array {
  return encodeOption(code, new TextEncoder().encode(text.slice(0, longestText)));
}

function encodeOption(code: number, value: Uint8Array): Uint8Array {
  const head = new Uint8Array(4);
  const view = new DataView(head.buffer);
  view.setUint16(0, code, true);
  view.setUint16(2, value.length, true);
  return joined([head, padded(value)]);
}

function block(type: number, parts: readonly Uint8Array[]): Uint8Array {
  const body = joined(parts);
  const bytes = new Uint8Array(12 + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, type, true);
  view.setUint32(4, bytes.length, true);
  bytes.set(body, 8);
  view.setUint32(bytes.length - 4, bytes.length, true);
  return bytes;
}

/** Filled with zeros to a multiple of four. */
function padded(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  whole.set(bytes);
  return whole;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
