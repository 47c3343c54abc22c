/**
 * One OSDP message on the line, from SOM to check, in both directions.
 *
 * Guarantee: what `decodeFrame` accepts has a consistent length and a good check; `encodeFrame` of the same parts
 * gives the same bytes. Both sides of the line use it.
 * Not promised: that the frame is authentic. `data` is as on the wire, so ciphertext in SCS_17 and SCS_18, and the
 * MAC is carried, not verified: that is the secure channel's work.
 *
 * Layout (SIA OSDP 2.2, message structure): SOM, ADDR, LEN u16, CTRL, [security block], CODE, DATA, [MAC 4], CHECK.
 */
import { checksum } from './checksum.ts';
import { crc16 } from './crc16.ts';

/** Start of message. */
export const som = 0x53;
/** Driven onto the line for one character before a message; outside LEN, check and MAC. */
export const mark = 0xff;
/** Longest message the standard allows, SOM to check, bytes. Many readers take 128–256 only. */
export const longestFrame = 1440;
/** Shortest possible: no data, no security block, checksum. */
export const shortestFrame = 7;
/** Every peripheral answers to it: configuration with one peripheral on the line only. */
export const broadcastAddress = 0x7f;
/** Bytes of the MAC that travel, SCS_15 to SCS_18. */
export const macLength = 4;

const headerLength = 5;
const replyBit = 0x80;
const crcBit = 0x04;
const securityBit = 0x08;

export type Sequence = 0 | 1 | 2 | 3;
export type Check = 'crc' | 'checksum';

/** Security block: `type` 0x11–0x18 in this generation of the channel; `data` is what follows it, often one byte. */
export interface SecurityBlock {
  readonly type: number;
  readonly data: Uint8Array;
}

export interface FrameParts {
  /** 0x00–0x7E, or 0x7F for broadcast; without the reply bit. */
  readonly address: number;
  readonly isReply: boolean;
  readonly sequence: Sequence;
  readonly check: Check;
  readonly security: SecurityBlock | undefined;
  /** Command or reply code; the same number means different things by direction. */
  readonly code: number;
  readonly data: Uint8Array;
}

export interface Frame extends FrameParts {
  /** Four bytes in SCS_15 to SCS_18, otherwise absent. */
  readonly mac: Uint8Array | undefined;
  /** The whole message from SOM to check, without mark; a copy of its own. */
  readonly bytes: Uint8Array;
}

/** Why bytes that begin with SOM are no frame. */
type FrameFault = 'bad-length' | 'bad-check' | 'bad-structure';

export type FrameDecoding =
  | { readonly kind: 'frame'; readonly frame: Frame }
  | { readonly kind: 'fault'; readonly fault: FrameFault };

/** Whether messages under this security block end in a MAC. */
export function carriesMac(security: SecurityBlock | undefined): boolean {
  return security !== undefined && security.type >= 0x15 && security.type <= 0x18;
}

/** How long the message of these parts is on the wire, SOM to check, bytes. */
function frameLength(parts: Pick<FrameParts, 'check' | 'security' | 'data'>): number {
  const securityLength = parts.security === undefined ? 0 : 2 + parts.security.data.length;
  const mac = carriesMac(parts.security) ? macLength : 0;
  return headerLength + securityLength + 1 + parts.data.length + mac + (parts.check === 'crc' ? 2 : 1);
}

/**
 * The message from SOM to check, without mark.
 *
 * @param mac asked once if the security block is of SCS_15 to SCS_18: gets SOM to the last byte before the MAC, with the
 *   final LEN, and returns at least four bytes, of which the first four are sent.
 * @throws RangeError if the message would be longer than the standard allows or a field does not fit.
 */
export function encodeFrame(parts: FrameParts, mac?: (covered: Uint8Array) => Uint8Array): Uint8Array {
  const length = frameLength(parts);
  if (length > longestFrame) throw new RangeError(`a message of ${length} bytes exceeds ${longestFrame}`);
  if (parts.address < 0 || parts.address > broadcastAddress) throw new RangeError(`address ${parts.address}`);
  const bytes = new Uint8Array(length);
  const covered = writeBody(bytes, parts);
  if (carriesMac(parts.security)) {
    const code = mac?.(bytes.subarray(0, covered));
    if (code === undefined || code.length < macLength) throw new RangeError('this security block needs a MAC');
    bytes.set(code.subarray(0, macLength), covered);
  }
  writeCheck(bytes, parts.check);
  return bytes;
}

/** @returns the offset after DATA. */
function writeBody(bytes: Uint8Array, parts: FrameParts): number {
  const { security } = parts;
  bytes[0] = som;
  bytes[1] = parts.address | (parts.isReply ? replyBit : 0);
  bytes[2] = bytes.length & 0xff;
  bytes[3] = bytes.length >> 8;
  bytes[4] = parts.sequence | (parts.check === 'crc' ? crcBit : 0) | (security === undefined ? 0 : securityBit);
  let at = headerLength;
  if (security !== undefined) {
    bytes[at] = 2 + security.data.length;
    bytes[at + 1] = security.type;
    bytes.set(security.data, at + 2);
    at += 2 + security.data.length;
  }
  bytes[at] = parts.code;
  bytes.set(parts.data, at + 1);
  return at + 1 + parts.data.length;
}

function writeCheck(bytes: Uint8Array, check: Check): void {
  if (check === 'checksum') {
    bytes[bytes.length - 1] = checksum(bytes.subarray(0, -1));
    return;
  }
  const crc = crc16(bytes.subarray(0, -2));
  bytes[bytes.length - 2] = crc & 0xff;
  bytes[bytes.length - 1] = crc >> 8;
}

/** What LEN of a message beginning at `at` says; `undefined` while its four header bytes are not there. */
export function announcedLength(bytes: Uint8Array, at: number): number | undefined {
  const low = bytes[at + 2];
  const high = bytes[at + 3];
  return low === undefined || high === undefined ? undefined : low | (high << 8);
}

/** Reads one complete message, exactly `bytes`. */
export function decodeFrame(bytes: Uint8Array): FrameDecoding {
  const fault = (name: FrameFault): FrameDecoding => ({ kind: 'fault', fault: name });
  const length = bytes.length;
  if (bytes[0] !== som) return fault('bad-structure');
  if (length < shortestFrame || length > longestFrame || announcedLength(bytes, 0) !== length)
    return fault('bad-length');
  const control = bytes[4] ?? 0;
  const check: Check = control & crcBit ? 'crc' : 'checksum';
  if (!hasGoodCheck(bytes, check)) return fault('bad-check');
  const frame = decodeBody(bytes.slice(), check, (control & securityBit) !== 0);
  return frame === undefined ? fault('bad-structure') : { kind: 'frame', frame };
}

function hasGoodCheck(bytes: Uint8Array, check: Check): boolean {
  if (check === 'checksum') return checksum(bytes) === 0;
  const received = (bytes.at(-2) ?? 0) | ((bytes.at(-1) ?? 0) << 8);
  return crc16(bytes.subarray(0, -2)) === received;
}

function decodeBody(bytes: Uint8Array, check: Check, isSecured: boolean): Frame | undefined {
  const end = bytes.length - (check === 'crc' ? 2 : 1);
  const security = isSecured ? securityBlockOf(bytes, end) : undefined;
  if (isSecured && security === undefined) return undefined;
  const codeAt = headerLength + (security === undefined ? 0 : 2 + security.data.length);
  const dataEnd = carriesMac(security) ? end - macLength : end;
  const code = bytes[codeAt];
  if (code === undefined || codeAt >= dataEnd) return undefined;
  const first = bytes[1] ?? 0;
  return {
    address: first & broadcastAddress,
    isReply: (first & replyBit) !== 0,
    sequence: ((bytes[4] ?? 0) & 0x03) as Sequence,
    check,
    security,
    code,
    data: bytes.subarray(codeAt + 1, dataEnd),
    mac: dataEnd < end ? bytes.subarray(dataEnd, end) : undefined,
    bytes,
  };
}

function securityBlockOf(bytes: Uint8Array, end: number): SecurityBlock | undefined {
  const length = bytes[headerLength] ?? 0;
  const type = bytes[headerLength + 1];
  if (type === undefined || length < 2 || headerLength + length >= end) return undefined;
  return { type, data: bytes.subarray(headerLength + 2, headerLength + length) };
}
