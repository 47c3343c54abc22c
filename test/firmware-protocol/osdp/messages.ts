/**
 * One of every command and every reply, with its data on the wire, for tests.
 */
import type { Command, Reply } from '#protocol/osdp/message.ts';
import { fromHex } from './trace.ts';

type Row<Message> = readonly [message: Message, code: number, hex: string];
const zero16 = '00'.repeat(16);

export const everyCommand: readonly Row<Command>[] = [
  [{ kind: 'poll' }, 0x60, ''],
  [{ kind: 'id', form: 0 }, 0x61, '00'],
  [{ kind: 'capabilities', form: 0 }, 0x62, '00'],
  [{ kind: 'local-status' }, 0x64, ''],
  [{ kind: 'input-status' }, 0x65, ''],
  [{ kind: 'output-status' }, 0x66, ''],
  [{ kind: 'reader-status' }, 0x67, ''],
  [
    {
      kind: 'output',
      records: [
        { output: 0, action: 'on-for-timer', timerTenths: 50 },
        { output: 1, action: 'off', timerTenths: 0x1234 },
      ],
    },
    0x68,
    '00 05 32 00 01 01 34 12',
  ],
  [
    {
      kind: 'led',
      records: [
        {
          reader: 0,
          led: 0,
          temporary: {
            action: 'set',
            onTenths: 2,
            offTenths: 2,
            onColor: 'green',
            offColor: 'off',
            timerTenths: 20,
          },
          permanent: { action: 'set', onTenths: 10, offTenths: 0, onColor: 'red', offColor: 'off' },
        },
      ],
    },
    0x69,
    // As in the recorded session 02.
    '00 00 02 02 02 02 00 14 00 01 0A 00 01 00',
  ],
  [{ kind: 'buzzer', reader: 0, tone: 'default', onTenths: 2, offTenths: 1, count: 3 }, 0x6a, '00 02 02 01 03'],
  [
    { kind: 'text', reader: 0, mode: 'temporary', seconds: 5, row: 1, column: 2, text: 'Enter' },
    0x6b,
    '00 03 05 01 02 05 45 6E 74 65 72',
  ],
  // As in the standard's check example.
  [{ kind: 'set-communication', address: 0, baud: 9600 }, 0x6e, '00 80 25 00 00'],
  [{ kind: 'read-biometric', reader: 0, bodyPart: 1, format: 2, quality: 200 }, 0x73, '00 01 02 C8'],
  [
    { kind: 'match-biometric', reader: 0, bodyPart: 1, format: 2, threshold: 9, template: Uint8Array.of(7, 8) },
    0x74,
    '00 01 02 09 02 00 07 08',
  ],
  [{ kind: 'set-key', key: new Uint8Array(16) }, 0x75, `01 10 ${zero16}`],
  [{ kind: 'challenge', random: fromHex('6B589943ACC11C86') }, 0x76, '6B589943ACC11C86'],
  [{ kind: 'panel-cryptogram', cryptogram: new Uint8Array(16) }, 0x77, zero16],
  [{ kind: 'receive-size', size: 1440 }, 0x7b, 'A0 05'],
  [
    { kind: 'file-transfer', fileType: 1, total: 700, offset: 660, fragment: Uint8Array.of(1, 2) },
    0x7c,
    '01 BC 02 00 00 94 02 00 00 02 00 01 02',
  ],
  [{ kind: 'manufacturer', vendor: '0c0b0a', payload: Uint8Array.of(1) }, 0x80, '0C 0B 0A 01'],
  [{ kind: 'transparent', mode: 1, operation: 2, payload: Uint8Array.of(3) }, 0xa1, '01 02 03'],
  [{ kind: 'abort' }, 0xa2, ''],
  [{ kind: 'piv-data', payload: Uint8Array.of(1, 2, 3) }, 0xa3, '01 02 03'],
  [
    { kind: 'general-authenticate', total: 4, offset: 2, fragment: Uint8Array.of(9, 9) },
    0xa4,
    '04 00 02 00 02 00 09 09',
  ],
  [{ kind: 'authenticate-challenge', total: 1, offset: 0, fragment: Uint8Array.of(9) }, 0xa5, '01 00 00 00 01 00 09'],
  [{ kind: 'keep-active', durationMs: 2500 }, 0xa7, 'C4 09'],
];

export const everyReply: readonly Row<Reply>[] = [
  [{ kind: 'ack' }, 0x40, ''],
  [{ kind: 'nak', reason: 4, details: Uint8Array.of(1) }, 0x41, '04 01'],
  [
    {
      kind: 'identity',
      vendor: '0c0b0a',
      model: 1,
      version: 2,
      serial: 0x01020304,
      firmware: { major: 1, minor: 2, build: 3 },
    },
    0x45,
    // As in the recorded session 02.
    '0C 0B 0A 01 02 04 03 02 01 01 02 03',
  ],
  [
    {
      kind: 'capabilities',
      capabilities: [
        { function: 3, level: 1, count: 1 },
        { function: 200, level: 9, count: 9 },
        { function: 3, level: 0, count: 0 },
      ],
    },
    0x46,
    '03 01 01 C8 09 09 03 00 00',
  ],
  [{ kind: 'local-status', isTampered: true, hasPowerFailed: false }, 0x48, '01 00'],
  [
    { kind: 'input-status', inputs: ['inactive', 'active', 'short', 'cut', 'fault', 'unknown'] },
    0x49,
    '00 01 02 03 04 05',
  ],
  [{ kind: 'output-status', outputs: [false, true] }, 0x4a, '00 01'],
  [{ kind: 'reader-status', readers: ['ok', 'not-connected', 'tampered'] }, 0x4b, '00 01 02'],
  [{ kind: 'card', reader: 0, format: 1, bitCount: 26, bytes: fromHex('BDD93740') }, 0x50, '00 01 1A 00 BD D9 37 40'],
  [{ kind: 'formatted-card', reader: 0, direction: 1, text: Uint8Array.of(0x41, 0x42) }, 0x51, '00 01 02 41 42'],
  [{ kind: 'keys', reader: 0, keys: Uint8Array.of(0x31, 0x32, 0x0d) }, 0x53, '00 03 31 32 0D'],
  [{ kind: 'communication', address: 0x7f, baud: 115200 }, 0x54, '7F 00 C2 01 00'],
  [
    { kind: 'biometric-read', reader: 0, status: 0, bodyPart: 1, quality: 200, template: Uint8Array.of(5) },
    0x57,
    '00 00 01 C8 01 00 05',
  ],
  [{ kind: 'biometric-match', reader: 0, status: 0, score: 99 }, 0x58, '00 00 63'],
  [{ kind: 'extended-identity', payload: Uint8Array.of(1, 2) }, 0x59, '01 02'],
  [
    {
      kind: 'challenge-answer',
      uid: fromHex('0C0B010004030201'),
      random: fromHex('59D640C9F20D2346'),
      cryptogram: new Uint8Array(16).fill(7),
    },
    0x76,
    `0C0B010004030201 59D640C9F20D2346 ${'07'.repeat(16)}`,
  ],
  [{ kind: 'initial-mac', mac: new Uint8Array(16).fill(8) }, 0x78, '08'.repeat(16)],
  [{ kind: 'busy' }, 0x79, ''],
  [
    {
      kind: 'file-status',
      allowsOtherCommands: true,
      wantsPlain: false,
      hasEvent: true,
      delayMs: 300,
      status: -3,
      longestMessage: 256,
    },
    0x7a,
    '05 2C 01 FD FF 00 01',
  ],
  [{ kind: 'piv-data', total: 2, offset: 0, fragment: Uint8Array.of(1, 2) }, 0x80, '02 00 00 00 02 00 01 02'],
  [{ kind: 'general-authenticate', total: 2, offset: 2, fragment: new Uint8Array(0) }, 0x81, '02 00 02 00 00 00'],
  [{ kind: 'authenticate-challenge', total: 1, offset: 0, fragment: Uint8Array.of(1) }, 0x82, '01 00 00 00 01 00 01'],
  [{ kind: 'manufacturer-status', payload: Uint8Array.of(1) }, 0x83, '01'],
  [{ kind: 'manufacturer-error', payload: Uint8Array.of(1) }, 0x84, '01'],
  [{ kind: 'manufacturer', vendor: 'cafe01', payload: new Uint8Array(0) }, 0x90, 'CA FE 01'],
  [{ kind: 'transparent', mode: 0, answer: 1, payload: Uint8Array.of(2, 3) }, 0xb1, '00 01 02 03'],
];
