import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Line } from '#gateway/device/line.ts';
import { LineExchange } from '#gateway/device/osdp/line-exchange.ts';
import { openSerialLine } from '#gateway/device/serial-line.ts';
import { encodeFrame, type FrameParts, type Sequence } from '#protocol/osdp/frame.ts';
import { monoMs } from '#shared/instant.ts';
import { openPtyPair, type PtyPair } from '../../../fakes/pty-pair.ts';
import { waitUntil } from '../../../fakes/wait-until.ts';

const now = () => monoMs(performance.now());
const baud = 115_200;
const frame = (parts: Partial<FrameParts>) =>
  encodeFrame({
    address: 5,
    isReply: false,
    sequence: 1,
    check: 'crc',
    security: undefined,
    code: 0x60,
    data: new Uint8Array(0),
    ...parts,
  });
const poll = frame({});
const ack = (sequence: Sequence = 1, data: readonly number[] = []) =>
  frame({ isReply: true, sequence, code: 0x40, data: Uint8Array.from(data) });
const question = { bytes: poll, timeoutMs: 200, address: 5 };

describe('an exchange on a real line', () => {
  let cable: PtyPair;
  let near: Line;
  let far: Line;
  let exchange: LineExchange;
  /** What the far end does with each message it hears, mark included. */
  let respond: (heard: Uint8Array) => void;
  let heard: Uint8Array[];
  let tally: { foreign: number; echoes: number; strays: number; damaged: number };

  beforeEach(async () => {
    cable = await openPtyPair();
    heard = [];
    respond = () => {};
    tally = { foreign: 0, echoes: 0, strays: 0, damaged: 0 };
    far = await openSerialLine(
      { path: cable.far, baud },
      {
        bytes: (bytes) => {
          heard.push(bytes.slice());
          respond(bytes);
        },
        lost: () => {},
      },
      now,
    );
    let receiver: LineExchange | undefined;
    near = await openSerialLine(
      { path: cable.near, baud },
      { bytes: (bytes, at) => receiver?.receive(bytes, at), lost: () => {} },
      now,
    );
    const add = (what: keyof typeof tally, count = 1) => {
      tally[what] += count;
    };
    const ear = {
      foreign: () => add('foreign'),
      echo: () => add('echoes'),
      stray: () => add('strays'),
      damaged: (count: number) => add('damaged', count),
      sent: () => {},
    };
    exchange = new LineExchange(near, baud, ear, now);
    receiver = exchange;
  });
  afterEach(async () => {
    await near.close();
    await far.close();
    await cable.close();
  });
  const answerWith =
    (...chunks: readonly Uint8Array[]) =>
    async () => {
      for (const chunk of chunks) await far.write(chunk);
    };
  const say = (...chunks: readonly Uint8Array[]) => {
    const answer = answerWith(...chunks);
    respond = () => void answer();
  };

  it('drives one mark before the message', async () => {
    say(ack());
    await exchange.ask(question);
    expect(Buffer.concat(heard)).toEqual(Buffer.concat([Uint8Array.of(0xff), poll]));
  });

  it('takes the reply with its time and the reader’s turnaround', async () => {
    const before = now();
    say(ack(1, [9]));
    const answer = await exchange.ask(question);
    expect(answer).toMatchObject({ kind: 'reply', frame: { code: 0x40, data: Uint8Array.of(9) } });
    expect(answer.at).toBeGreaterThan(before);
    expect(answer.at).toBeLessThanOrEqual(now());
  });

  it('takes a reply however it is cut', async () => {
    const reply = ack(1, [0x53, 0x53, 0x85]);
    for (let cut = 1; cut < reply.length; cut += 1) {
      say(reply.subarray(0, cut), reply.subarray(cut));
      expect(await exchange.ask(question)).toMatchObject({ kind: 'reply' });
    }
    say(...Array.from(reply, (byte) => Uint8Array.of(byte)));
    expect(await exchange.ask(question)).toMatchObject({ kind: 'reply' });
    expect(tally).toEqual({ foreign: 0, echoes: 0, strays: 0, damaged: 0 });
  });

  it('says that nobody answered', async () => {
    expect(await exchange.ask({ ...question, timeoutMs: 30 })).toMatchObject({ kind: 'no-reply' });
  });

  it('does not take a late reply for the answer to the next question', async () => {
    const late = ack(1, [1]);
    expect(await exchange.ask({ ...question, timeoutMs: 30 })).toMatchObject({ kind: 'no-reply' });
    await far.write(late);
    await waitUntil('the late reply', () => tally.strays === 1);
    say(ack(2, [2]));
    const next = { ...question, bytes: frame({ sequence: 2 }) };
    expect(await exchange.ask(next)).toMatchObject({ kind: 'reply', frame: { data: Uint8Array.of(2) } });
  });

  it('prefers the reply in sequence to one that is not, and gives the other only for want of a better', async () => {
    say(ack(3, [3]), ack(1, [1]));
    expect(await exchange.ask(question)).toMatchObject({ kind: 'reply', frame: { data: Uint8Array.of(1) } });
    say(ack(3, [3]));
    const doubtful = await exchange.ask({ ...question, timeoutMs: 30 });
    expect(doubtful).toMatchObject({ kind: 'reply', frame: { data: Uint8Array.of(3) } });
  });

  it('takes sequence 0 as an answer to anything: the reader is busy or restarted', async () => {
    say(ack(0));
    expect(await exchange.ask(question)).toMatchObject({ kind: 'reply', frame: { sequence: 0 } });
  });

  it('waits on when another reader speaks', async () => {
    say(frame({ isReply: true, address: 6, code: 0x40 }), ack());
    expect(await exchange.ask(question)).toMatchObject({ kind: 'reply', frame: { address: 5 } });
    expect(tally.strays).toBe(1);
  });

  it('drops its own echo and hears the reply behind it', async () => {
    respond = (bytes) => void answerWith(bytes, ack())();
    expect(await exchange.ask(question)).toMatchObject({ kind: 'reply' });
    expect(tally).toMatchObject({ echoes: 1, foreign: 0 });
  });

  it('tells another panel from its echo, while asking and while idle', async () => {
    say(frame({ address: 9 }), ack());
    await exchange.ask(question);
    expect(tally).toMatchObject({ echoes: 0, foreign: 1 });
    await far.write(poll);
    await waitUntil('the stranger', () => tally.foreign === 2);
  });

  it('finds the reply in noise', async () => {
    const noise = Uint8Array.from({ length: 64 }, (_, index) => (index * 73 + 19) & 0xff);
    say(noise, Uint8Array.of(0x53, 0x85, 0x0a, 0x00), ack());
    expect(await exchange.ask(question)).toMatchObject({ kind: 'reply' });
    expect(tally.damaged).toBeGreaterThan(0);
  });

  it('gives up a message whose rest never comes, and hears the next', async () => {
    const cut = ack(1, [1, 2, 3]).subarray(0, 6);
    say(cut);
    expect(await exchange.ask({ ...question, timeoutMs: 50 })).toMatchObject({ kind: 'no-reply' });
    say(ack());
    expect(await exchange.ask(question)).toMatchObject({ kind: 'reply' });
  });

  it('ends however long the line babbles', async () => {
    let isOver = false;
    respond = () => {
      const babble = async () => {
        while (!isOver) await far.write(Uint8Array.of(0x53, 0x85, 0x00, 0x05, 0x00, 0x00, 0x00, 0x00));
      };
      void babble();
    };
    const answer = await exchange.ask({ ...question, timeoutMs: 50 });
    isOver = true;
    expect(answer.kind).toBe('no-reply');
  });

  it('looks at what has arrived before it calls a stalled loop a silent reader', async () => {
    respond = () => {
      void far.write(ack()).then(() => {
        // The reply waits in the kernel while nothing runs, well past the timeout.
        const end = performance.now() + 120;
        while (performance.now() < end);
      });
    };
    expect(await exchange.ask({ ...question, timeoutMs: 40 })).toMatchObject({ kind: 'reply' });
  });
});
