import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCobsStream, takeCobsBytes } from '#protocol/link/cobs.ts';
import { answerCall, createSerialAnswerer, hearCall, type SerialAnswerer } from '#protocol/link/serial-answerer.ts';
import { call, createSerialCaller, giveUpCall, type SerialCaller, takeAnswer } from '#protocol/link/serial-caller.ts';
import {
  decodeSerialFrame,
  encodeSerialFrame,
  longestStuffed,
  readSerialFrame,
  type SerialFrame,
} from '#protocol/link/serial-frame.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

const file = join(import.meta.dirname, '..', '..', '..', 'firmware-protocol', 'link', 'vectors', 'serial-frames.json');
const { good, bad } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly good: readonly (Omit<SerialFrame, 'packet'> & { readonly packet: string; readonly hex: string })[];
  readonly bad: readonly { readonly name: string; readonly stuffed: string; readonly fault: string }[];
};
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const packet = (number: number): Uint8Array => Uint8Array.of(1, 3, number >> 8, number & 0xff);

function frameOf(bytes: Uint8Array): SerialFrame {
  const decoding = decodeSerialFrame(bytes.subarray(0, -1));
  if (decoding.kind === 'dropped') throw new Error(decoding.fault);
  return decoding.frame;
}

describe('a frame', () => {
  it.each(good)('is written and read: address $address, turn $turn', ({ hex: wire, packet: text, ...head }) => {
    const frame = { ...head, packet: hex(text) };
    expect(encodeSerialFrame(frame)).toEqual(hex(wire));
    expect(frameOf(hex(wire))).toEqual(frame);
  });

  it.each(bad)('is dropped: $name', ({ stuffed, fault }) => {
    expect(decodeSerialFrame(hex(stuffed))).toEqual({ kind: 'dropped', fault });
  });

  it('is dropped with any bit changed, and cut at any length', () => {
    const bytes = encodeSerialFrame({
      address: 7,
      turn: 1,
      isFresh: false,
      isAnswer: false,
      packet: packet(1),
    }).subarray(0, -1);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      expect(decodeSerialFrame(bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)))).kind).toBe('dropped');
    }
    for (let length = 0; length < bytes.length; length += 1) {
      expect(decodeSerialFrame(bytes.subarray(0, length)).kind).toBe('dropped');
    }
  });

  it('is found in a stream split at every byte, and between two others in one chunk', () => {
    const frames = [1, 2, 3].map((number) =>
      encodeSerialFrame({ address: number, turn: 0, isFresh: false, isAnswer: true, packet: packet(number) }),
    );
    const stream = Uint8Array.from(frames.flatMap((frame) => [...frame]));
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const first = takeCobsBytes(createCobsStream(longestStuffed), stream.subarray(0, cut));
      const second = takeCobsBytes(first.state, stream.subarray(cut));
      const addresses = [...first.frames, ...second.frames].map((bytes) => {
        const decoding = readSerialFrame(bytes);
        return decoding.kind === 'frame' ? decoding.frame.address : decoding.fault;
      });
      expect(addresses).toEqual([1, 2, 3]);
    }
  });
});

/** A lock that says one numbered packet at each new call, and notes what it was given. */
class Answering {
  state: SerialAnswerer;
  readonly taken: number[] = [];
  private said = 0;

  constructor(address: number) {
    this.state = createSerialAnswerer(address);
  }

  hear(bytes: Uint8Array): Uint8Array | undefined {
    const frame = frameOf(bytes);
    const heard = hearCall(this.state, frame);
    if (heard.kind === 'not-for-us') return undefined;
    if (heard.kind === 'repeat') return heard.bytes;
    if (heard.packet.length > 0) this.taken.push(((heard.packet[2] ?? 0) << 8) | (heard.packet[3] ?? 0));
    this.said += 1;
    const answer = answerCall(this.state, frame, packet(this.said));
    this.state = answer.state;
    return answer.bytes;
  }
}

describe('turns on a line', () => {
  it('pass each packet once in each direction, in order, however many calls and answers are lost', () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = seededRandom(seed);
      const lock = new Answering(7);
      let caller: SerialCaller = createSerialCaller(7);
      const heard: number[] = [];
      const answer = lock.hear(call(caller, new Uint8Array(0)).bytes);
      const begun = answer && takeAnswer(call(caller, new Uint8Array(0)).state, frameOf(answer));
      if (begun === undefined) throw new Error('no first answer');
      caller = begun.state;
      for (let sent = 0; sent < 100; ) {
        const called = call(caller, packet(sent + 1));
        caller = called.state;
        const said = random() < 0.4 ? undefined : lock.hear(called.bytes);
        if (said === undefined || random() < 0.4) continue;
        const taken = takeAnswer(caller, frameOf(said));
        if (taken === undefined) throw new Error('an answer is not taken');
        caller = taken.state;
        heard.push(((taken.packet[2] ?? 0) << 8) | (taken.packet[3] ?? 0));
        sent += 1;
      }
      const oneToHundred = Array.from({ length: 100 }, (_, index) => index + 1);
      expect(lock.taken).toEqual(oneToHundred);
      expect(heard).toEqual(oneToHundred.map((number) => number + 1));
    }
  });

  it('begin anew with a gateway that started anew, whatever its turn, and with a lock that did', () => {
    for (const turns of [0, 1, 2, 3]) {
      const lock = new Answering(7);
      let caller = createSerialCaller(7);
      for (let turn = 0; turn < turns; turn += 1) {
        const called = call(caller, packet(100 + turn));
        const said = lock.hear(called.bytes);
        caller = takeAnswer(called.state, frameOf(said ?? new Uint8Array(0)))?.state ?? caller;
      }
      lock.hear(call(createSerialCaller(7), packet(1)).bytes);
      lock.hear(call(giveUpCall(caller), packet(2)).bytes);
      const restarted = new Answering(7);
      restarted.hear(call(caller, packet(3)).bytes);
      expect([...lock.taken.slice(turns), ...restarted.taken]).toEqual([1, 2, 3]);
    }
  });

  it('take no answer of another lock, of another turn, or an echo of the call', () => {
    const called = call(createSerialCaller(7), packet(1));
    const answer = { address: 7, turn: 0, isFresh: false, isAnswer: true, packet: packet(9) } as const;
    expect(takeAnswer(called.state, frameOf(called.bytes))).toBeUndefined();
    expect(takeAnswer(called.state, { ...answer, address: 8 })).toBeUndefined();
    expect(takeAnswer(called.state, { ...answer, turn: 1 })).toBeUndefined();
    expect(takeAnswer(called.state, answer)?.packet).toEqual(packet(9));
    expect(takeAnswer(createSerialCaller(7), answer)).toBeUndefined();
    expect(new Answering(8).hear(called.bytes)).toBeUndefined();
  });
});
