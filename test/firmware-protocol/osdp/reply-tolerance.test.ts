import { describe, expect, it } from 'vitest';
import { decodeReply } from '#protocol/osdp/message.ts';
import { capabilityFunction, findCapability, receiveBufferOf } from '#protocol/osdp/reply/capabilities.ts';
import { keysText } from '#protocol/osdp/reply/keys.ts';
import { nakMeaning } from '#protocol/osdp/reply/nak.ts';
import { fromHex } from './trace.ts';

const capabilitiesOf = (hex: string) => {
  const reply = decodeReply(0x46, fromHex(hex));
  if (reply.kind !== 'capabilities') throw new Error(reply.kind);
  return reply;
};

describe('capabilities', () => {
  it('keeps reading past functions nobody knows', () => {
    const reply = capabilitiesOf('C8 01 01 00 00 00 09 01 01');
    expect(findCapability(reply, capabilityFunction.security)).toEqual({ function: 9, level: 1, count: 1 });
  });

  it('takes the first of a repeated function', () => {
    const reply = capabilitiesOf('04 02 01 04 01 01');
    expect(findCapability(reply, capabilityFunction.leds)?.level).toBe(2);
  });

  it('reads what came whole of a list that is cut', () => {
    expect(capabilitiesOf('04 02 01 05').capabilities).toEqual([{ function: 4, level: 2, count: 1 }]);
  });

  it('says which function is not there', () => {
    expect(findCapability(capabilitiesOf(''), capabilityFunction.text)).toBeUndefined();
  });

  it('reads the receive buffer low byte first, and 0 as unknown', () => {
    expect(receiveBufferOf(capabilitiesOf('0A 00 01'))).toBe(256);
    expect(receiveBufferOf(capabilitiesOf('0A A0 05'))).toBe(1440);
    expect(receiveBufferOf(capabilitiesOf('0A 00 00'))).toBeUndefined();
    expect(receiveBufferOf(capabilitiesOf(''))).toBeUndefined();
  });
});

it('takes any number of inputs, outputs and readers, and reads unlisted states as unknown', () => {
  expect(decodeReply(0x49, fromHex('00 09'))).toEqual({ kind: 'input-status', inputs: ['inactive', 'unknown'] });
  expect(decodeReply(0x4a, new Uint8Array(16))).toMatchObject({ outputs: Array.from({ length: 16 }, () => false) });
  expect(decodeReply(0x4b, fromHex('FF'))).toEqual({ kind: 'reader-status', readers: ['unknown'] });
});

it('makes two reads of one card equal whatever the reader leaves after the last bit', () => {
  expect(decodeReply(0x50, fromHex('00 00 1A 00 BD D9 37 7F'))).toEqual(
    decodeReply(0x50, fromHex('00 00 1A 00 BD D9 37 40')),
  );
});

it('takes a NAK with and without details', () => {
  expect(decodeReply(0x41, fromHex('06'))).toEqual({ kind: 'nak', reason: 6, details: new Uint8Array(0) });
  expect(nakMeaning(6)).toBe('security required');
  expect(nakMeaning(77)).toBe('reason 77');
});

describe('keys as text', () => {
  it('reads digits, both kinds of enter and both kinds of clear', () => {
    expect(keysText(fromHex('30 39 0D 23 7F 2A'))).toBe('09##**');
  });

  it('marks any other key, so that it cannot vanish from a PIN', () => {
    expect(keysText(fromHex('31 41 00 FF 32'))).toBe('1???2');
  });
});
