import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { clearMessageOf, describeFrame } from '#protocol/osdp/describe.ts';
import { encodeFrame, type Frame, longestFrame, type Sequence } from '#protocol/osdp/frame.ts';
import { createFrameParser, expireFrame, type FrameParser, parseFrames } from '#protocol/osdp/frame-parser.ts';
import { decodeCommand, decodeReply } from '#protocol/osdp/message.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';
import { everyCommand, everyReply } from './messages.ts';
import { fromHex } from './trace.ts';

const rounds = process.env['KANNUKI_FULL'] === '1' ? 1_000_000 : 100_000;
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 0x7fffffff);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Whole numbers from 0, below what is asked. */
function createDice(start: number): (below: number) => number {
  const random = seededRandom(start);
  return (below) => Math.floor(random() * below);
}

type Dice = ReturnType<typeof createDice>;

function pick<Item>(dice: Dice, items: readonly Item[]): Item {
  const item = items[dice(items.length)];
  if (item === undefined) throw new Error('nothing to pick');
  return item;
}

const everyMessage = [...everyCommand, ...everyReply];

const noise = (dice: Dice, length: number): Uint8Array =>
  Uint8Array.from({ length }, () => (dice(4) === 0 ? 0x53 : dice(256)));

function anyFrame(dice: Dice): Uint8Array {
  const [, code, hex] = pick(dice, everyMessage);
  const type = pick(dice, [0, 0, 0x11, 0x13, 0x15, 0x16, 0x17, 0x18, 0x21]);
  return encodeFrame(
    {
      address: dice(128),
      isReply: dice(2) === 0,
      sequence: dice(4) as Sequence,
      check: dice(4) === 0 ? 'checksum' : 'crc',
      security: type === 0 ? undefined : { type, data: type < 0x15 ? Uint8Array.of(dice(2)) : new Uint8Array(0) },
      code: dice(8) === 0 ? dice(256) : code,
      data: dice(4) === 0 ? noise(dice, dice(dice(16) === 0 ? 1_400 : 64)) : fromHex(hex),
    },
    () => noise(dice, 4),
  );
}

const mutations: readonly ((dice: Dice, bytes: Uint8Array) => Uint8Array)[] = [
  (_, bytes) => bytes,
  (dice, bytes) => bytes.slice(0, dice(bytes.length)),
  (dice, bytes) => bytes.slice(dice(bytes.length)),
  (dice, bytes) => bytes.with(dice(bytes.length), dice(256)),
  (dice, bytes) => bytes.with(2, dice(256)).with(3, dice(8)),
  (dice, bytes) => bytes.with(dice(bytes.length), 0x53),
  (dice, bytes) => Uint8Array.from([...bytes, ...bytes.slice(dice(bytes.length))]),
  (dice, bytes) => Uint8Array.from([...noise(dice, dice(12)), ...bytes]),
  (dice, bytes) => Uint8Array.from([...bytes.slice(0, dice(bytes.length)), ...noise(dice, dice(12)), ...bytes]),
];

/** Gives the stream in chunks of any size and lets the gap expire at the end. */
function hear(
  dice: Dice,
  start: FrameParser,
  stream: Uint8Array,
): { readonly frames: Frame[]; readonly end: FrameParser } {
  const frames: Frame[] = [];
  let state = start;
  const take = (step: ReturnType<typeof parseFrames>): void => {
    frames.push(...step.frames, ...step.foreign);
    state = step.state;
    if (state.held.length >= longestFrame) throw new Error(`holds ${state.held.length} bytes`);
  };
  for (let at = 0; at < stream.length; ) {
    const length = 1 + dice(pick(dice, [1, 8, 64, 4096]));
    take(parseFrames(state, stream.subarray(at, at + length)));
    at += length;
  }
  take(expireFrame(state));
  return { frames, end: state };
}

it(`never throws, never grows, and always hears the next good frame (${rounds} damaged frames, seed ${seed})`, () => {
  console.log(`fuzz-frames seed ${seed}`);
  const dice = createDice(seed);
  const good = encodeFrame({
    address: 5,
    isReply: true,
    sequence: 1,
    check: 'crc',
    security: undefined,
    code: 0x50,
    data: fromHex('00 01 1A 00 BD D9 37 40'),
  });
  let swallowed = 0;
  let heapAfterWarmUp = 0;
  let state = createFrameParser('replies');
  for (let round = 0; round < rounds; round += 1) {
    const damaged = pick(dice, mutations)(dice, anyFrame(dice));
    const stream = Buffer.from([...damaged, ...good]);
    const { frames, end } = hear(dice, state, stream);
    state = end;
    for (const frame of frames) if (describeFrame(frame, clearMessageOf(frame)) === '') throw new Error('no text');
    if (state.held.length !== 0) throw new Error('still holds bytes after the gap');
    if (!frames.some((frame) => Buffer.compare(frame.bytes, good) === 0)) {
      // The one way to miss it: a damaged beginning whose length reaches into it and whose check happens to hold.
      const isSwallowed = frames.some((frame) => {
        const from = stream.indexOf(frame.bytes);
        return from < damaged.length && from + frame.bytes.length > damaged.length;
      });
      if (!isSwallowed) throw new Error(`lost the good frame in round ${round}`);
      swallowed += 1;
    }
    if (round === 10_000) {
      collect();
      heapAfterWarmUp = process.memoryUsage().heapUsed;
    }
  }
  collect();
  expect(process.memoryUsage().heapUsed - heapAfterWarmUp).toBeLessThan(16 * 2 ** 20);
  expect(swallowed).toBeLessThan(rounds / 1_000);
});

it(`never throws on any data of any code (${rounds} messages, seed ${seed})`, () => {
  const dice = createDice(seed);
  for (let round = 0; round < rounds; round += 1) {
    const code = dice(256);
    const data = noise(dice, dice(40));
    for (const message of [decodeCommand(code, data), decodeReply(code, data)]) {
      if (typeof message.kind !== 'string') throw new Error(`no kind for code ${code}`);
    }
  }
});
