import { describe, expect, it } from 'vitest';
import { createCobsStream, decodeCobs, encodeCobs, takeCobsBytes } from '#protocol/link/cobs.ts';
import { crc16 } from '#protocol/link/crc16.ts';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const count = (from: number, to: number): Uint8Array => Uint8Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('stuffing', () => {
  // The examples of the paper by Cheshire and Baker, and the corners around a run of 254.
  it.each([
    ['', '01'],
    ['00', '01 01'],
    ['00 00', '01 01 01'],
    ['00 11 00', '01 02 11 01'],
    ['11 22 00 33', '03 11 22 02 33'],
    ['11 00 00 00', '02 11 01 01 01'],
  ])('makes of %s the bytes %s and back', (clear, stuffed) => {
    expect(encodeCobs(hex(clear))).toEqual(hex(stuffed));
    expect(decodeCobs(hex(stuffed))).toEqual(hex(clear));
  });

  it('ends a run of 254 without adding a zero', () => {
    expect(encodeCobs(count(1, 254))).toEqual(Uint8Array.from([0xff, ...count(1, 254)]));
    expect(encodeCobs(count(1, 255))).toEqual(Uint8Array.from([0xff, ...count(1, 254), 2, 255]));
    expect(encodeCobs(Uint8Array.from([0, ...count(1, 254)]))).toEqual(Uint8Array.from([1, 0xff, ...count(1, 254)]));
    expect(encodeCobs(Uint8Array.from([...count(2, 255), 0]))).toEqual(Uint8Array.from([0xff, ...count(2, 255), 1, 1]));
  });

  it('gives back every length, with zeros anywhere', () => {
    for (let length = 0; length < 800; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 7 + length) % (length % 5 === 0 ? 256 : 3));
      const stuffed = encodeCobs(bytes);
      expect(stuffed).not.toContain(0);
      expect(stuffed.length).toBeLessThanOrEqual(length + 1 + Math.floor(length / 254));
      expect(decodeCobs(stuffed)).toEqual(bytes);
    }
  });

  it.each(['', '00', '02', '03 11', '02 00', '05 11 22 00 33'])('refuses %s', (stuffed) => {
    expect(decodeCobs(hex(stuffed))).toBeUndefined();
  });
});

describe('a stream of frames', () => {
  const frames = [hex('01 02 03'), hex('00'), count(1, 255)];
  const stream = Uint8Array.from(frames.flatMap((frame) => [...encodeCobs(frame), 0]));

  it('is the same however it is cut', () => {
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const first = takeCobsBytes(createCobsStream(300), stream.subarray(0, cut));
      const second = takeCobsBytes(first.state, stream.subarray(cut));
      expect([...first.frames, ...second.frames]).toEqual(frames);
      expect(first.dropped + second.dropped).toBe(0);
      expect(second.state.held.length).toBe(0);
    }
  });

  it('finds the next frame after one that is cut, too long, or no stuffing, and says so', () => {
    const damaged = [hex('05 01 00'), hex('00 00'), Uint8Array.from([...new Uint8Array(400).fill(7), 0])];
    const { frames: found, dropped } = takeCobsBytes(
      createCobsStream(300),
      Uint8Array.from([...damaged.flatMap((bytes) => [...bytes]), ...stream]),
    );
    expect(found).toEqual(frames);
    expect(dropped).toBe(2);
  });

  it('holds no more than its limit, whatever comes', () => {
    let state = createCobsStream(50);
    for (let at = 0; at < 1_000; at += 1) {
      state = takeCobsBytes(state, Uint8Array.of(1)).state;
      expect(state.held.length).toBeLessThanOrEqual(50);
    }
    expect(takeCobsBytes(state, hex('00 02 09 00')).frames).toEqual([hex('09')]);
  });
});

it('checks as CRC-16/CCITT-FALSE does', () => {
  expect(crc16(Buffer.from('123456789'))).toBe(0x29b1);
  expect(crc16(new Uint8Array(0))).toBe(0xffff);
});
