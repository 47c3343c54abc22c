import { expect, it } from 'vitest';
import { describeFrame } from '#protocol/osdp/describe.ts';
import { decodeFrame, encodeFrame, type Frame, type FrameParts } from '#protocol/osdp/frame.ts';
import { type Command, encodeCommand, encodeReply, type Reply } from '#protocol/osdp/message.ts';
import { everyCommand, everyReply } from './messages.ts';
import { fromHex } from './trace.ts';

function frameOf(parts: Partial<FrameParts>): Frame {
  const whole = { address: 5, isReply: false, sequence: 2, check: 'crc', security: undefined, code: 0x60 } as const;
  const bytes = encodeFrame({ ...whole, data: new Uint8Array(0), ...parts }, () => new Uint8Array(4));
  const decoding = decodeFrame(bytes);
  if (decoding.kind !== 'frame') throw new Error(decoding.fault);
  return decoding.frame;
}

const command = (message: Command): string => describeFrame(frameOf(encodeCommand(message)));
const reply = (message: Reply): string => describeFrame(frameOf({ isReply: true, ...encodeReply(message) }));
const noData = new Uint8Array(0);

it('says direction, address, sequence, channel and name', () => {
  expect(describeFrame(frameOf({}))).toBe('-> 05 #2 plain POLL');
  expect(describeFrame(frameOf({ check: 'checksum' }))).toBe('-> 05 #2 plain checksum POLL');
  expect(describeFrame(frameOf({ security: { type: 0x15, data: noData } }))).toBe('-> 05 #2 SCS_15 POLL');
  expect(describeFrame(frameOf({ isReply: true, code: 0x40, address: 0x7f }))).toBe('<- 7F #2 plain ACK');
  expect(describeFrame(frameOf({ code: 0x6c, data: Uint8Array.of(1) }))).toBe('-> 05 #2 plain code 0x6c: 1 byte');
});

it('says how much is encrypted, and the message itself once it could be decrypted', () => {
  const frame = frameOf({
    isReply: true,
    security: { type: 0x18, data: noData },
    code: 0x50,
    data: new Uint8Array(16),
  });
  expect(describeFrame(frame)).toBe('<- 05 #2 SCS_18 RAW: 16 bytes encrypted');
  expect(describeFrame(frame, { kind: 'card', reader: 0, format: 1, bitCount: 26, bytes: fromHex('BDD93740') })).toBe(
    '<- 05 #2 SCS_18 RAW: reader 0 format 1, 26 bits',
  );
});

it('names what is wrong with a malformed message', () => {
  expect(describeFrame(frameOf({ code: 0x61 }))).toBe('-> 05 #2 plain ID: malformed, 0 bytes of data instead of 1');
});

it('reads like the session it came from', () => {
  expect(command({ kind: 'output', records: [{ output: 0, action: 'on-for-timer', timerTenths: 50 }] })).toBe(
    '-> 05 #2 plain OUT: output 0 on-for-timer 5 s',
  );
  expect(reply({ kind: 'nak', reason: 6, details: noData })).toBe('<- 05 #2 plain NAK: security required');
  expect(reply({ kind: 'input-status', inputs: ['active', 'cut'] })).toBe('<- 05 #2 plain ISTATR: active cut');
  expect(
    command({
      kind: 'led',
      records: [
        {
          reader: 0,
          led: 0,
          temporary: { action: 'set', onTenths: 2, offTenths: 2, onColor: 'green', offColor: 'off', timerTenths: 20 },
          permanent: { action: 'set', onTenths: 1, offTenths: 0, onColor: 'red', offColor: 'red' },
        },
      ],
    }),
  ).toBe('-> 05 #2 plain LED: reader 0 led 0 green 0.2 s off 0.2 s for 2 s then red');
});

it('shows keys as dots', () => {
  expect(reply({ kind: 'keys', reader: 0, keys: fromHex('31 32 33 0D') })).toBe('<- 05 #2 plain KEYPAD: reader 0 ••••');
});

it('is the same line whatever the secret is', () => {
  const lines = [1, 2].map((secret) => {
    const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(secret);
    const text = String.fromCharCode(0x40 + secret).repeat(5);
    return [
      command({ kind: 'set-key', key: bytes(16) }),
      command({ kind: 'challenge', random: bytes(8) }),
      command({ kind: 'panel-cryptogram', cryptogram: bytes(16) }),
      command({ kind: 'text', reader: 0, mode: 'permanent', seconds: 0, row: 1, column: 1, text }),
      command({ kind: 'match-biometric', reader: 0, bodyPart: 0, format: 0, threshold: 0, template: bytes(9) }),
      command({ kind: 'file-transfer', fileType: 1, total: 9, offset: 0, fragment: bytes(9) }),
      command({ kind: 'manufacturer', vendor: '000000', payload: bytes(9) }),
      command({ kind: 'transparent', mode: 0, operation: 0, payload: bytes(9) }),
      command({ kind: 'piv-data', payload: bytes(9) }),
      command({ kind: 'general-authenticate', total: 9, offset: 0, fragment: bytes(9) }),
      command({ kind: 'authenticate-challenge', total: 9, offset: 0, fragment: bytes(9) }),
      reply({ kind: 'challenge-answer', uid: bytes(8), random: bytes(8), cryptogram: bytes(16) }),
      reply({ kind: 'initial-mac', mac: bytes(16) }),
      reply({ kind: 'card', reader: 0, format: 0, bitCount: 64, bytes: bytes(8) }),
      reply({ kind: 'formatted-card', reader: 0, direction: 0, text: bytes(8) }),
      reply({ kind: 'keys', reader: 0, keys: bytes(4) }),
      reply({ kind: 'biometric-read', reader: 0, status: 0, bodyPart: 0, quality: 0, template: bytes(9) }),
      reply({ kind: 'biometric-match', reader: 0, status: 0, score: secret }),
      reply({ kind: 'extended-identity', payload: bytes(9) }),
      reply({ kind: 'manufacturer', vendor: '000000', payload: bytes(9) }),
      reply({ kind: 'manufacturer-status', payload: bytes(9) }),
      reply({ kind: 'manufacturer-error', payload: bytes(9) }),
      reply({ kind: 'transparent', mode: 0, answer: 0, payload: bytes(9) }),
      reply({ kind: 'piv-data', total: 9, offset: 0, fragment: bytes(9) }),
      reply({ kind: 'general-authenticate', total: 9, offset: 0, fragment: bytes(9) }),
      reply({ kind: 'authenticate-challenge', total: 9, offset: 0, fragment: bytes(9) }),
      describeFrame(frameOf({ code: 0x6c, data: bytes(9) })),
      // One byte short of a key: malformed, and still not to be shown.
      describeFrame(frameOf({ code: 0x75, data: bytes(17) })),
    ];
  });
  expect(lines[1]).toEqual(lines[0]);
});

it.each([...everyCommand.map((row) => [false, row] as const), ...everyReply.map((row) => [true, row] as const)])(
  'has one line of plain text for every message (reply: %s, %o)',
  (isReply, [, code, hex]) => {
    expect(describeFrame(frameOf({ isReply, code, data: fromHex(hex) }))).toMatch(
      /^(->|<-) 05 #2 plain [A-Z_]+(: [^\n]+)?$/,
    );
  },
);
