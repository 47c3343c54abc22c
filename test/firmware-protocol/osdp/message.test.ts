import { describe, expect, it } from 'vitest';
import {
  type Command,
  decodeCommand,
  decodeReply,
  encodeCommand,
  encodeReply,
  type Reply,
} from '#protocol/osdp/message.ts';
import { everyCommand, everyReply } from './messages.ts';
import { fromHex } from './trace.ts';

describe('commands', () => {
  it.each(everyCommand)('writes and reads %o', (command, code, hex) => {
    expect(encodeCommand(command)).toEqual({ code, data: fromHex(hex) });
    expect(decodeCommand(code, fromHex(hex))).toEqual(command);
  });

  it.each(everyCommand)('never throws on %o cut short or with a byte too many', (_, code, hex) => {
    const data = fromHex(hex);
    for (let length = 0; length < data.length; length += 1) decodeCommand(code, data.subarray(0, length));
    expect(decodeCommand(code, Uint8Array.from([...data, 0])).kind).toBeTypeOf('string');
  });

  it('keeps an unknown code with its data', () => {
    const data = Uint8Array.of(1, 2);
    expect(decodeCommand(0x6c, data)).toEqual({ kind: 'unknown', code: 0x6c, data });
  });
});

describe('replies', () => {
  it.each(everyReply)('writes and reads %o', (reply, code, hex) => {
    expect(encodeReply(reply)).toEqual({ code, data: fromHex(hex) });
    expect(decodeReply(code, fromHex(hex))).toEqual(reply);
  });

  it.each(everyReply)('never throws on %o cut short or with a byte too many', (_, code, hex) => {
    const data = fromHex(hex);
    for (let length = 0; length < data.length; length += 1) decodeReply(code, data.subarray(0, length));
    expect(decodeReply(code, Uint8Array.from([...data, 0])).kind).toBeTypeOf('string');
  });

  it('keeps an unknown code with its data', () => {
    const data = Uint8Array.of(1, 2);
    expect(decodeReply(0x4f, data)).toEqual({ kind: 'unknown', code: 0x4f, data });
  });
});

// Every message whose length is laid down: one byte less, one byte more.
describe.each([
  ['command', 0x60, 0],
  ['command', 0x61, 1],
  ['command', 0x62, 1],
  ['command', 0x68, 4],
  ['command', 0x69, 14],
  ['command', 0x6a, 5],
  ['command', 0x6e, 5],
  ['command', 0x73, 4],
  ['command', 0x75, 18],
  ['command', 0x76, 8],
  ['command', 0x77, 16],
  ['command', 0x7b, 2],
  ['command', 0xa2, 0],
  ['command', 0xa7, 2],
  ['reply', 0x40, 0],
  ['reply', 0x45, 12],
  ['reply', 0x48, 2],
  ['reply', 0x54, 5],
  ['reply', 0x58, 3],
  ['reply', 0x76, 32],
  ['reply', 0x78, 16],
  ['reply', 0x79, 0],
  ['reply', 0x7a, 7],
] as const)('a %s 0x%i', (side, code, length) => {
  const decode = side === 'command' ? decodeCommand : decodeReply;
  it.each([length - 1, length + 1].filter((wrong) => wrong >= 0))('of %i bytes is malformed', (wrong) => {
    expect(decode(code, new Uint8Array(wrong))).toMatchObject({ kind: 'malformed', code, fault: 'length' });
  });
});

describe.each([
  ['command', 0x6b, '00 01 00 01 01 05 41'],
  ['command', 0x74, '00 00 00 00 02 00 01'],
  ['command', 0x7c, '01 00 00 00 00 00 00 00 00 01 00'],
  ['command', 0x80, '00 01'],
  ['command', 0xa1, '01'],
  ['command', 0xa4, '04 00 00 00 04 00 01'],
  ['reply', 0x41, ''],
  ['reply', 0x50, '00 01 1A 00 BD D9 37'],
  ['reply', 0x50, '00 01 1A 00 BD D9 37 40 00'],
  ['reply', 0x50, '00 01 1A'],
  ['reply', 0x51, '00 00 02 41'],
  ['reply', 0x53, '00 02 31'],
  ['reply', 0x53, '00 01 31 32'],
  ['reply', 0x57, '00 00 00 00 01 00'],
  ['reply', 0x80, '04 00 00 00'],
  ['reply', 0x90, '00 01'],
  ['reply', 0xb1, '01'],
] as const)('a %s 0x%i of %s', (side, code, hex) => {
  it('is malformed by length', () => {
    const decode = side === 'command' ? decodeCommand : decodeReply;
    expect(decode(code, fromHex(hex))).toMatchObject({ kind: 'malformed', code, fault: 'length' });
  });
});

describe('values that break the rules', () => {
  it.each([
    ['an output action that is none', 0x68, '00 07 00 00'],
    ['a lamp without on- and off-time', 0x69, '00 00 02 00 00 02 00 14 00 00 00 00 00 00'],
    ['a permanent lamp without on- and off-time', 0x69, '00 00 00 00 00 00 00 00 00 01 00 00 01 00'],
    ['a colour that is none', 0x69, '00 00 02 01 01 08 00 14 00 00 00 00 00 00'],
    ['a temporary action that is none', 0x69, '00 00 03 01 01 01 00 14 00 00 00 00 00 00'],
    ['a permanent action that is none', 0x69, '00 00 00 00 00 00 00 00 00 02 01 01 01 00'],
    ['a tone without on-time', 0x6a, '00 02 00 01 01'],
    ['a tone that is none', 0x6a, '00 03 01 01 01'],
    ['a text mode that is none', 0x6b, '00 00 00 01 01 00'],
    ['a key of another type', 0x75, `02 10 ${'00'.repeat(16)}`],
    ['a key of another length', 0x75, `01 20 ${'00'.repeat(16)}`],
    ['a file fragment past the end', 0x7c, '01 01 00 00 00 00 00 00 00 02 00 01 02'],
    ['a message fragment past the end', 0xa4, '01 00 01 00 01 00 09'],
  ])('a command with %s is malformed by value', (_, code, hex) => {
    expect(decodeCommand(code, fromHex(hex))).toMatchObject({ kind: 'malformed', code, fault: 'value' });
  });

  it.each([
    ['a card without bits', 0x50, '00 01 00 00'],
    ['a card of more than 1024 bits', 0x50, `00 01 01 04 ${'00'.repeat(129)}`],
  ])('a reply with %s is malformed by value', (_, code, hex) => {
    expect(decodeReply(code, fromHex(hex))).toMatchObject({ kind: 'malformed', code, fault: 'value' });
  });

  it.each<[string, Command]>([
    ['a timer too long', { kind: 'output', records: [{ output: 0, action: 'on', timerTenths: 65536 }] }],
    ['an output number too large', { kind: 'output', records: [{ output: 256, action: 'on', timerTenths: 0 }] }],
    ['half a tenth', { kind: 'output', records: [{ output: 0, action: 'on', timerTenths: 0.5 }] }],
    ['a tone without on-time', { kind: 'buzzer', reader: 0, tone: 'default', onTenths: 0, offTenths: 0, count: 1 }],
    ['a short key', { kind: 'set-key', key: new Uint8Array(15) }],
    ['the broadcast address', { kind: 'set-communication', address: 0x7f, baud: 9600 }],
    ['a vendor that is none', { kind: 'manufacturer', vendor: 'xyz', payload: new Uint8Array(0) }],
    [
      'a text too long',
      { kind: 'text', reader: 0, mode: 'permanent', seconds: 0, row: 1, column: 1, text: 'x'.repeat(256) },
    ],
    [
      'a text outside one byte',
      { kind: 'text', reader: 0, mode: 'permanent', seconds: 0, row: 1, column: 1, text: '扉' },
    ],
  ])('we never send %s', (_, command) => {
    expect(() => encodeCommand(command)).toThrow(RangeError);
  });

  it.each<[string, Reply]>([
    ['a card with too few bytes', { kind: 'card', reader: 0, format: 0, bitCount: 26, bytes: new Uint8Array(3) }],
    [
      'a status that does not fit',
      {
        kind: 'file-status',
        allowsOtherCommands: false,
        wantsPlain: false,
        hasEvent: false,
        delayMs: 0,
        status: -32769,
        longestMessage: 0,
      },
    ],
  ])('we never send %s', (_, reply) => {
    expect(() => encodeReply(reply)).toThrow(RangeError);
  });
});
