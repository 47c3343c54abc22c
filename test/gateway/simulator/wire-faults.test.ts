import { describe, expect, test } from 'vitest';
import type { Fault } from '#gateway/simulator/fault.ts';
import { hear, noise, say, soundWire, type WireFaults, withFault } from '#gateway/simulator/wire-faults.ts';
import { decodeFrame, encodeFrame, type Frame } from '#protocol/osdp/frame.ts';

const frame = (code: number, data: readonly number[], sequence: Frame['sequence'], isReply = false): Frame => {
  const bytes = encodeFrame({
    address: 4,
    isReply,
    sequence,
    check: 'crc',
    security: undefined,
    code,
    data: new Uint8Array(data),
  });
  const decoded = decodeFrame(bytes);
  if (decoded.kind !== 'frame') throw new Error('the test builds whole frames');
  return decoded.frame;
};
const poll = frame(0x60, [], 2);
const ack = frame(0x40, [], 2, true).bytes;
const card = frame(0x50, [0, 1, 26, 0, 0xbd, 0xd9, 0x37, 0x40], 3, true).bytes;
const quiet = new Uint8Array(2);
const faulted = (fault: Fault, state = soundWire) => withFault(state, fault);

/** What the panel gets for one poll that the peripheral would answer with `reply`. */
function exchange(state: WireFaults, reply: Uint8Array): { state: WireFaults; sends: readonly Uint8Array[] } {
  const heard = hear(state, poll);
  if (heard.hearing.kind === 'lost') return { state: heard.state, sends: [] };
  if (heard.hearing.kind === 'answered') return { state: heard.state, sends: [heard.hearing.reply] };
  const said = say(heard.state, reply, quiet);
  return { state: said.state, sends: said.sends.map((send) => send.bytes) };
}

const decoded = (bytes: Uint8Array | undefined) => {
  const result = decodeFrame(bytes ?? new Uint8Array());
  return result.kind === 'frame' ? result.frame : undefined;
};

describe('a wire', () => {
  test('that is sound passes every reply as it is', () => {
    expect(exchange(soundWire, ack).sends).toEqual([ack]);
  });

  test('that is unplugged passes nothing until it is plugged in', () => {
    const cut = faulted({ kind: 'unplug' });
    expect(exchange(cut, ack).sends).toEqual([]);
    expect(exchange(faulted({ kind: 'plug' }, cut), ack).sends).toEqual([ack]);
  });

  test('replays what was said before, the card read first, and ends by itself', () => {
    let state = exchange(exchange(soundWire, card).state, ack).state;
    state = faulted({ kind: 'replay', count: 2 }, state);
    const first = exchange(state, ack);
    expect(first.sends).toEqual([card]);
    const second = exchange(first.state, ack);
    expect(second.sends).toEqual([ack]);
    expect(second.state.replays.left).toBe(0);
    expect(hear(second.state, poll).hearing.kind).toBe('reaches');
  });

  test('remembers a card read through any number of acknowledgements', () => {
    let { state } = exchange(soundWire, card);
    for (let i = 0; i < 500; i += 1) ({ state } = exchange(state, ack));
    expect(state.recorded).toHaveLength(32);
    expect(exchange(faulted({ kind: 'replay', count: 1 }, state), ack).sends).toEqual([card]);
  });

  test('with nothing recorded has nothing to replay', () => {
    expect(exchange(faulted({ kind: 'replay', count: 5 }), ack).sends).toEqual([ack]);
  });

  test('doubles as many replies as it was told', () => {
    const once = exchange(faulted({ kind: 'duplicate', count: 1 }), ack);
    expect(once.sends).toEqual([ack, ack]);
    expect(exchange(once.state, ack).sends).toEqual([ack]);
  });

  test('flips one bit of a reply, so that its check fails', () => {
    const once = exchange(faulted({ kind: 'corrupt', count: 1 }), ack);
    expect(once.sends).toHaveLength(1);
    expect(decoded(once.sends[0])).toBeUndefined();
    expect(exchange(once.state, ack).sends).toEqual([ack]);
  });

  test('delays replies without changing them', () => {
    const late = say(faulted({ kind: 'delay', delayMs: 250, count: 1 }), ack, quiet);
    expect(late.sends).toEqual([{ afterMs: 250, bytes: ack }]);
    expect(say(late.state, ack, quiet).sends).toEqual([{ afterMs: 0, bytes: ack }]);
  });

  test('says BUSY at sequence 0 in place of the peripheral', () => {
    const busy = exchange(faulted({ kind: 'busy', count: 1 }), ack);
    expect(decoded(busy.sends[0])).toMatchObject({ code: 0x79, sequence: 0, isReply: true, address: 4 });
    expect(exchange(busy.state, ack).sends).toEqual([ack]);
  });

  test('refuses with the code it was given, at the command’s sequence', () => {
    const nak = exchange(faulted({ kind: 'nak', code: 5, count: 1 }), ack);
    expect(decoded(nak.sends[0])).toMatchObject({ code: 0x41, sequence: 2, data: new Uint8Array([5]) });
    expect(exchange(nak.state, ack).sends).toEqual([ack]);
  });

  test('is healed of everything, and keeps what it recorded', () => {
    const { state } = exchange(soundWire, card);
    const ill = faulted({ kind: 'busy', count: 9 }, faulted({ kind: 'unplug' }, state));
    expect(faulted({ kind: 'heal' }, ill)).toEqual(state);
  });

  test('carries noise in which messages seem to begin', () => {
    const every = noise(Uint8Array.from({ length: 256 }, (_, i) => i));
    expect(every.filter((byte) => byte === 0x53)).toHaveLength(65);
    expect(every).toHaveLength(256);
  });
});
