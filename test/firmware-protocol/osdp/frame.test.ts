import { describe, expect, it } from 'vitest';
import { checksum } from '#protocol/osdp/checksum.ts';
import { crc16 } from '#protocol/osdp/crc16.ts';
import { decodeFrame, encodeFrame, type FrameParts, longestFrame } from '#protocol/osdp/frame.ts';
import { fromHex } from './trace.ts';

const poll: FrameParts = {
  address: 0x25,
  isReply: false,
  sequence: 2,
  check: 'crc',
  security: undefined,
  code: 0x60,
  data: new Uint8Array(0),
};

// Check values of the standard's annex: COMSET to 0x7F, and ID to address 0.
it.each([
  ['53 7F 0D 00 04 6E 00 80 25 00 00', 0x386e],
  ['53 00 09 00 04 61 00', 0x66c0],
])('gives the CRC of %s', (hex, expected) => {
  expect(crc16(fromHex(hex))).toBe(expected);
});

it.each([
  ['53 7F 0C 00 00 6E 00 80 25 00 00', 0x0f],
  ['53 00 08 00 00 61 00', 0x44],
])('gives the checksum of %s', (hex, expected) => {
  expect(checksum(fromHex(hex))).toBe(expected);
});

describe('encoding a frame', () => {
  it('writes the shortest frames of both checks', () => {
    expect(encodeFrame(poll)).toHaveLength(8);
    expect(encodeFrame({ ...poll, check: 'checksum' })).toHaveLength(7);
  });

  it('asks for the MAC over everything before it, with the final length', () => {
    const asked: Uint8Array[] = [];
    const security = { type: 0x15, data: new Uint8Array(0) };
    const bytes = encodeFrame({ ...poll, security }, (covered) => {
      asked.push(covered.slice());
      return Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    });
    expect(asked).toEqual([bytes.slice(0, -6)]);
    expect(bytes[2]).toBe(bytes.length);
    expect([...bytes.slice(-6, -2)]).toEqual([1, 2, 3, 4]);
  });

  it('will not send a secured message without a MAC', () => {
    const security = { type: 0x17, data: new Uint8Array(0) };
    expect(() => encodeFrame({ ...poll, security })).toThrow(RangeError);
    expect(() => encodeFrame({ ...poll, security }, () => new Uint8Array(3))).toThrow(RangeError);
  });

  it('will not send a message longer than the standard allows', () => {
    expect(encodeFrame({ ...poll, data: new Uint8Array(longestFrame - 8) })).toHaveLength(longestFrame);
    expect(() => encodeFrame({ ...poll, data: new Uint8Array(longestFrame - 7) })).toThrow(RangeError);
  });

  it('will not send to an address that is none', () => {
    expect(() => encodeFrame({ ...poll, address: 0x80 })).toThrow(RangeError);
    expect(() => encodeFrame({ ...poll, address: -1 })).toThrow(RangeError);
  });
});

describe('decoding a frame', () => {
  const secured = encodeFrame(
    { ...poll, isReply: true, security: { type: 0x18, data: new Uint8Array(0) }, data: new Uint8Array(16) },
    () => Uint8Array.of(1, 2, 3, 4),
  );

  it('gives back the parts, the MAC and the bytes', () => {
    const decoding = decodeFrame(secured);
    expect(decoding).toMatchObject({
      kind: 'frame',
      frame: { address: 0x25, isReply: true, sequence: 2, check: 'crc', code: 0x60, bytes: secured },
    });
    if (decoding.kind !== 'frame') return;
    expect(decoding.frame.security?.type).toBe(0x18);
    expect(decoding.frame.data).toEqual(new Uint8Array(16));
    expect(decoding.frame.mac).toEqual(Uint8Array.of(1, 2, 3, 4));
  });

  it('keeps its own copy', () => {
    const bytes = encodeFrame(poll);
    const decoding = decodeFrame(bytes);
    bytes.fill(0);
    expect(decoding.kind === 'frame' && decoding.frame.bytes[0]).toBe(0x53);
  });

  it('reads an address of 0x7F, answered as 0xFF', () => {
    expect(decodeFrame(encodeFrame({ ...poll, address: 0x7f, isReply: true }))).toMatchObject({
      frame: { address: 0x7f, isReply: true, bytes: { 1: 0xff } },
    });
  });

  it('ignores the upper bits of the control byte', () => {
    const bytes = encodeFrame(poll);
    bytes[4] = (bytes[4] ?? 0) | 0xf0;
    const crc = crc16(bytes.subarray(0, -2));
    bytes.set([crc & 0xff, crc >> 8], bytes.length - 2);
    expect(decodeFrame(bytes)).toMatchObject({ kind: 'frame', frame: { sequence: 2, check: 'crc' } });
  });

  it('finds each truncation and each flipped bit, in both checks', () => {
    for (const whole of [secured, encodeFrame({ ...poll, check: 'checksum', data: Uint8Array.of(1, 2, 3) })]) {
      for (let length = 0; length < whole.length; length += 1) {
        expect(decodeFrame(whole.subarray(0, length)).kind).toBe('fault');
      }
      for (let bit = 0; bit < whole.length * 8; bit += 1) {
        const bytes = whole.slice();
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(decodeFrame(bytes).kind, `bit ${bit}`).toBe('fault');
      }
    }
  });

  it.each([
    ['a security block shorter than itself', [0x01, 0x15]],
    ['a security block of length 0', [0x00, 0x15]],
    ['a security block that reaches past the end', [0xff, 0x11]],
    ['a security block with nothing after it', [0x03, 0x11]],
    ['a MAC that is not there', [0x02, 0x15, 0x60, 1, 2, 3]],
  ])('refuses %s', (_, rest) => {
    const bytes = Uint8Array.from([0x53, 0x00, 5 + rest.length + 2, 0x00, 0x0c, ...rest, 0, 0]);
    const crc = crc16(bytes.subarray(0, -2));
    bytes.set([crc & 0xff, crc >> 8], bytes.length - 2);
    expect(decodeFrame(bytes)).toEqual({ kind: 'fault', fault: 'bad-structure' });
  });
});
