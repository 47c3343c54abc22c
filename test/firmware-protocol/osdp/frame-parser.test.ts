import { expect, it } from 'vitest';
import { encodeFrame, type FrameParts, longestFrame } from '#protocol/osdp/frame.ts';
import { createFrameParser, expireFrame, type FrameStep, parseFrames } from '#protocol/osdp/frame-parser.ts';

const frameOf = (parts: Partial<FrameParts>): Uint8Array =>
  encodeFrame({
    address: 1,
    isReply: true,
    sequence: 1,
    check: 'crc',
    security: undefined,
    code: 0x40,
    data: new Uint8Array(0),
    ...parts,
  });
const ack = frameOf({});
const card = frameOf({ code: 0x50, data: Uint8Array.of(0x53, 0x53, 0x53, 0x53, 0x08, 0x00) });
const command = frameOf({ isReply: false, code: 0x60 });
const join = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
const noDrops = { bytes: 0, badLength: 0, badCheck: 0, badStructure: 0, expired: 0 };
const fresh = createFrameParser('replies');

/** Gives the chunks one after the other, and the steps' frames together. */
function feed(...chunks: readonly Uint8Array[]): { readonly frames: Uint8Array[]; readonly last: FrameStep } {
  const frames: Uint8Array[] = [];
  let last: FrameStep = { state: fresh, frames: [], foreign: [], drops: noDrops };
  for (const chunk of chunks) {
    last = parseFrames(last.state, chunk);
    frames.push(...last.frames.map((frame) => frame.bytes));
  }
  return { frames, last };
}

it('reads two frames in one chunk', () => {
  expect(feed(join(ack, card)).frames).toEqual([ack, card]);
});

it('reads a frame split at every byte', () => {
  for (let at = 0; at <= card.length; at += 1) {
    const { frames, last } = feed(card.subarray(0, at), card.subarray(at));
    expect(frames).toEqual([card]);
    expect(last.drops).toEqual(noDrops);
  }
});

it('reads frames that come byte by byte', () => {
  const stream = join(card, ack, card);
  expect(feed(...Array.from(stream, (byte) => Uint8Array.of(byte))).frames).toEqual([card, ack, card]);
});

it('takes none, one or several mark bytes and counts none of them', () => {
  const marks = (count: number): Uint8Array => new Uint8Array(count).fill(0xff);
  const { frames, last } = feed(join(ack, marks(1), ack, marks(3), ack, marks(2)));
  expect(frames).toEqual([ack, ack, ack]);
  expect(last.drops).toEqual(noDrops);
});

it('reports messages of the other direction apart', () => {
  const step = parseFrames(fresh, join(command, ack));
  expect(step.foreign.map((frame) => frame.bytes)).toEqual([command]);
  expect(step.frames.map((frame) => frame.bytes)).toEqual([ack]);
});

it('hears commands at the peripheral’s end', () => {
  const step = parseFrames(createFrameParser('commands'), join(command, ack));
  expect(step.frames.map((frame) => frame.bytes)).toEqual([command]);
  expect(step.foreign.map((frame) => frame.bytes)).toEqual([ack]);
});

it('drops noise, counts it, and reads what follows', () => {
  const step = parseFrames(fresh, join(Uint8Array.of(1, 2, 3), ack));
  expect(step.frames).toHaveLength(1);
  expect(step.drops).toEqual({ ...noDrops, bytes: 3 });
});

it('reads the frame after a false start', () => {
  const step = parseFrames(fresh, join(Uint8Array.of(0x53, 0x53, 0x53), ack));
  expect(step.frames.map((frame) => frame.bytes)).toEqual([ack]);
  expect(step.drops).toEqual({ ...noDrops, bytes: 3, badLength: 3 });
});

it('counts a bad check and reads a frame that lies inside the damaged one', () => {
  const damaged = frameOf({ data: ack });
  damaged[1] = 0x05;
  const step = parseFrames(fresh, damaged);
  expect(step.frames.map((frame) => frame.bytes)).toEqual([ack]);
  expect(step.drops.badCheck).toBe(1);
});

it('finds the next good frame after each flipped bit, at the latest when the gap expires', () => {
  for (let bit = 0; bit < card.length * 8; bit += 1) {
    const damaged = card.slice();
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const step = parseFrames(fresh, join(damaged, ack));
    const frames = [...step.frames, ...expireFrame(step.state).frames].map((frame) => frame.bytes);
    expect(frames, `bit ${bit}`).toEqual([ack]);
  }
});

it('finds the next good frame after each truncation, at the latest when the gap expires', () => {
  for (let length = 0; length < card.length; length += 1) {
    const step = parseFrames(fresh, join(card.subarray(0, length), ack));
    const frames = [...step.frames, ...expireFrame(step.state).frames].map((frame) => frame.bytes);
    expect(frames, `cut to ${length}`).toEqual([ack]);
  }
});

it('gives up a message whose rest does not come', () => {
  const waiting = parseFrames(fresh, card.subarray(0, 6));
  expect(waiting.state.held).toHaveLength(6);
  const step = expireFrame(waiting.state);
  expect(step.state.held).toHaveLength(0);
  expect(step.drops).toEqual({ ...noDrops, bytes: 6, expired: 1 });
});

it('has nothing to give up between messages', () => {
  expect(expireFrame(parseFrames(fresh, ack).state)).toEqual({ state: fresh, frames: [], foreign: [], drops: noDrops });
});

it('never holds as much as a longest message', () => {
  const beginning = Uint8Array.of(0x53, 0x80, longestFrame & 0xff, longestFrame >> 8);
  let state = parseFrames(fresh, beginning).state;
  for (let round = 0; round < 5_000; round += 1) {
    state = parseFrames(state, new Uint8Array(7)).state;
    expect(state.held.length).toBeLessThan(longestFrame);
  }
});

it('leaves its state and the chunk as they were', () => {
  const first = parseFrames(fresh, card.subarray(0, 5));
  const held = first.state.held.slice();
  const chunk = card.slice(5);
  parseFrames(first.state, chunk);
  parseFrames(first.state, Uint8Array.of(0));
  expect(first.state.held).toEqual(held);
  expect(chunk).toEqual(card.slice(5));
});
