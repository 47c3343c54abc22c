import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Channel, openChannel, openRecord, sealRecord } from '#protocol/link/channel.ts';
import {
  decodePacket,
  encodeHello,
  encodeRefusal,
  encodeWelcome,
  longestPacket,
  refusalReasons,
} from '#protocol/link/packet.ts';

const file = join(import.meta.dirname, '..', '..', '..', 'firmware-protocol', 'link', 'vectors', 'records.json');
const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly {
  readonly key: string;
  readonly counter: string;
  readonly clear: string;
  readonly packet: string;
}[];
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

const keys = {
  toResponder: new Uint8Array(32).fill(1),
  toInitiator: new Uint8Array(32).fill(2),
  hash: new Uint8Array(32),
};
const gateway = openChannel(keys, 'gateway');
const lock = openChannel(keys, 'lock');
const clear = Uint8Array.of(1, 2, 3);

function open(channel: Channel, bytes: Uint8Array) {
  const packet = decodePacket(bytes);
  return packet?.kind === 'record' ? openRecord(channel, packet) : undefined;
}

describe('a record', () => {
  it.each(vectors)('is sealed with counter $counter as written down', ({ key, counter, clear: text, packet }) => {
    const channel = openChannel({ ...keys, toResponder: hex(key) }, 'gateway');
    const { bytes } = sealRecord({ ...channel, sendCounter: Number(counter) }, hex(text));
    expect(bytes).toEqual(hex(packet));
    const opening = open(openChannel({ ...keys, toResponder: hex(key) }, 'lock'), bytes);
    expect(opening).toMatchObject({ kind: 'opened', clear: hex(text), channel: { receivedCounter: Number(counter) } });
  });

  it('counts from 0 in each direction, and is read by the other end only', () => {
    const first = sealRecord(gateway, clear);
    const second = sealRecord(first.channel, clear);
    expect(first.bytes.subarray(0, 10)).toEqual(hex('01030000000000000000'));
    expect(second.bytes.subarray(0, 10)).toEqual(hex('01030000000000000001'));
    expect(open(lock, first.bytes)?.kind).toBe('opened');
    expect(open(gateway, first.bytes)).toEqual({ kind: 'refused', reason: 'not-authentic' });
  });

  it('is taken once, may be missed, and is old once a later one was taken', () => {
    const first = sealRecord(gateway, clear);
    const second = sealRecord(first.channel, clear);
    const third = sealRecord(second.channel, clear);
    const opened = open(lock, second.bytes);
    if (opened?.kind !== 'opened') throw new Error('the second record is refused');
    expect(open(opened.channel, second.bytes)).toEqual({ kind: 'refused', reason: 'old' });
    expect(open(opened.channel, first.bytes)).toEqual({ kind: 'refused', reason: 'old' });
    expect(open(opened.channel, third.bytes)?.kind).toBe('opened');
  });

  it('is refused with any bit changed, its head too, and at any other length', () => {
    const { bytes } = sealRecord(gateway, clear);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const opening = open(lock, bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))));
      expect(opening?.kind === 'opened').toBe(false);
    }
    for (let length = 0; length < bytes.length; length += 1) {
      expect(open(lock, bytes.subarray(0, length))?.kind === 'opened').toBe(false);
    }
    expect(open(lock, Uint8Array.from([...bytes, 0]))).toEqual({ kind: 'refused', reason: 'not-authentic' });
  });
});

describe('a packet', () => {
  it('says what it is by its second byte', () => {
    expect(decodePacket(encodeHello(new Uint8Array(48)))?.kind).toBe('hello');
    expect(decodePacket(encodeWelcome(new Uint8Array(60)))?.kind).toBe('welcome');
    for (const reason of refusalReasons)
      expect(decodePacket(encodeRefusal(reason))).toEqual({ kind: 'refusal', reason });
  });

  it.each([
    ['nothing', ''],
    ['a version alone', '01'],
    ['another version', `0201${'00'.repeat(48)}`],
    ['type 0', '0100'],
    ['type 5', '0105'],
    ['a handshake with a payload', `0101${'00'.repeat(49)}`],
    ['a handshake cut short', `0101${'00'.repeat(47)}`],
    ['a welcome without an identity', `0102${'00'.repeat(48)}`],
    ['a record without a tag', `0103${'00'.repeat(23)}`],
    ['a counter above 2^53 - 1', `01030020${'00'.repeat(6)}${'00'.repeat(16)}`],
    ['a refusal without a reason', '0104'],
    ['a refusal nobody knows', '010403'],
    ['a refusal with more', '01040000'],
    ['more than a packet', `0103${'00'.repeat(longestPacket - 1)}`],
  ])('is not: %s', (_, text) => {
    expect(decodePacket(hex(text))).toBeUndefined();
  });
});
