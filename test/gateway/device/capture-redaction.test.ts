import { describe, expect, it } from 'vitest';
import { redactFrame } from '#gateway/device/osdp/capture-redaction.ts';
import { decodeFrame, encodeFrame, type Frame, type FrameParts } from '#protocol/osdp/frame.ts';
import { everyCommand, everyReply } from '../../firmware-protocol/osdp/messages.ts';
import { fromHex } from '../../firmware-protocol/osdp/trace.ts';

function decoded(bytes: Uint8Array): Frame {
  const decoding = decodeFrame(bytes);
  if (decoding.kind !== 'frame') throw new Error(decoding.fault);
  return decoding.frame;
}

function frameOf(parts: Partial<FrameParts>): Frame {
  const whole = { address: 5, isReply: false, sequence: 2, check: 'crc', security: undefined, code: 0x60 } as const;
  return decoded(encodeFrame({ ...whole, data: new Uint8Array(0), ...parts }, () => Uint8Array.of(1, 2, 3, 4)));
}

const scs = (type: number): Partial<FrameParts> => ({ security: { type, data: new Uint8Array(0) } });
const ones = (length: number): Uint8Array => new Uint8Array(length).fill(0xee);
const dataAfter = (parts: Partial<FrameParts>, isUnderPublicKey = false): Uint8Array =>
  decoded(redactFrame(frameOf(parts), isUnderPublicKey)).data;

describe('what a capture keeps of a frame', () => {
  it.each([
    ['a card', { isReply: true, code: 0x50, data: fromHex('00 01 1A 00 EE EE EE EE') }, '00 01 1A 00 00 00 00 00'],
    ['a card as text', { isReply: true, code: 0x51, data: fromHex('00 00 02 EE EE') }, '00 00 02 00 00'],
    ['pressed keys', { isReply: true, code: 0x53, data: fromHex('00 03 31 32 33') }, '00 03 00 00 00'],
    ['a key', { code: 0x75, data: fromHex(`01 10 ${'EE'.repeat(16)}`) }, `01 10 ${'00'.repeat(16)}`],
    ['a text', { code: 0x6b, data: fromHex('00 01 00 01 01 02 41 42') }, '00 01 00 01 01 02 00 00'],
    ['a vendor’s command', { code: 0x80, data: fromHex('0C 0B 0A EE') }, '0C 0B 0A 00'],
    ['an unknown command', { code: 0xc0, data: fromHex('EE EE') }, '00 00'],
    ['an unknown reply', { isReply: true, code: 0xc0, data: fromHex('EE EE') }, '00 00'],
  ] as const)('is the head of %s', (_, parts, kept) => {
    expect(dataAfter(parts)).toEqual(fromHex(kept));
  });

  it('is the same bytes for two secrets, check and MAC included', () => {
    for (const security of [undefined, { type: 0x16, data: new Uint8Array(0) }]) {
      const [first, second] = ['31 32', '38 39'].map((keys) =>
        redactFrame(frameOf({ isReply: true, code: 0x53, security, data: fromHex(`00 02 ${keys}`) }), false),
      );
      expect(first).toEqual(second);
    }
  });

  it('is everything of a harmless message', () => {
    for (const [code, isReply, length] of [
      [0x69, false, 14],
      [0x46, true, 9],
      [0x79, true, 0],
    ] as const) {
      const frame = frameOf({ code, isReply, data: ones(length) });
      expect(redactFrame(frame, false)).toEqual(frame.bytes);
    }
  });

  it('is ciphertext, but for a key', () => {
    expect(dataAfter({ isReply: true, code: 0x50, ...scs(0x18), data: ones(16) })).toEqual(ones(16));
    expect(dataAfter({ code: 0x69, ...scs(0x17), data: ones(16) })).toEqual(ones(16));
    expect(dataAfter({ code: 0x75, ...scs(0x17), data: ones(32) })).toEqual(new Uint8Array(32));
  });

  it('is no ciphertext that everybody can decrypt', () => {
    expect(dataAfter({ isReply: true, code: 0x50, ...scs(0x18), data: ones(16) }, true)).toEqual(new Uint8Array(16));
  });

  it.each([...everyCommand.map((row) => [false, row] as const), ...everyReply.map((row) => [true, row] as const)])(
    'has the length and the head of the original (reply: %s, %o)',
    (isReply, [, code, hex]) => {
      for (const check of ['crc', 'checksum'] as const) {
        const frame = frameOf({ isReply, code, check, data: fromHex(hex) });
        const kept = decoded(redactFrame(frame, false));
        expect({ ...kept, bytes: kept.bytes.length, data: undefined }).toEqual({
          ...frame,
          bytes: frame.bytes.length,
          data: undefined,
        });
      }
    },
  );
});
