import { describe, expect, it } from 'vitest';
import {
  type FileReceiving,
  type FileSending,
  fragmentRoom,
  nextFragment,
  noFile,
  receiveFragment,
  startSending,
  takeFileStatus,
} from '#protocol/osdp/file-transfer.ts';
import type { FileStatusReply } from '#protocol/osdp/reply/file-status.ts';
import { SessionBench, securePanel, secureReader } from './session-bench.ts';

const file = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 13) & 0xff);
const status = (changes: Partial<FileStatusReply> = {}): FileStatusReply => ({
  kind: 'file-status',
  allowsOtherCommands: true,
  wantsPlain: false,
  hasEvent: false,
  delayMs: 0,
  status: 0,
  longestMessage: 0,
  ...changes,
});
const sending = (length: number, changes: Partial<Pick<FileSending, 'longest' | 'isPlainAllowed'>> = {}) =>
  startSending(
    { fileType: 1, bytes: file(length) },
    { longest: 256, isSecured: true, isPlainAllowed: false, ...changes },
  );

/** One fragment sent and answered. */
function answer(state: FileSending, at: number, reply: FileStatusReply): FileSending {
  const next = nextFragment(state, at);
  if (next?.kind !== 'send') throw new Error('nothing to send');
  return takeFileStatus(state, at, next.command.fragment.length, reply);
}

describe('the room for a fragment', () => {
  it.each([
    [256, true, 228],
    [128, true, 100],
    [256, false, 237],
    [1_440, true, 1_412],
    [5_000, true, 1_412],
    [30, true, 4],
    [20, true, 0],
  ])('in %i bytes, secured %s, is %i', (longest, isSecured, room) => {
    expect(fragmentRoom(longest, isSecured)).toBe(room);
  });
});

describe('sending a file', () => {
  it('goes over a session in frames the reader takes, and arrives whole', () => {
    const reader = { ...secureReader, longestFile: 4_096 };
    const bench = new SessionBench(securePanel, reader).run(500);
    let state = sending(700);
    for (let next = nextFragment(state, bench.now); next?.kind === 'send'; next = nextFragment(state, bench.now)) {
      const id = bench.command(next.command);
      bench.run(100);
      const done = bench.said('command-done').find((effect) => effect.id === id)?.outcome;
      if (done?.kind !== 'accepted' || done.reply.kind !== 'file-status') throw new Error('no status');
      state = takeFileStatus(state, bench.now, next.command.fragment.length, done.reply);
    }
    expect(state.end).toEqual({ kind: 'done', isRestarting: false });
    expect(bench.did('file').map(({ bytes }) => bytes)).toEqual([file(700)]);
    expect(bench.fromPanel().every(({ bytes }) => bytes.length <= 256)).toBe(true);
  });

  it('waits as long as the reader asks', () => {
    const state = answer(sending(700), 1_000, status({ delayMs: 250 }));
    expect(nextFragment(state, 1_249)).toEqual({ kind: 'wait', until: 1_250 });
    expect(nextFragment(state, 1_250)?.kind).toBe('send');
  });

  it('follows a reader that takes less from now on', () => {
    const state = answer(sending(700), 0, status({ longestMessage: 128 }));
    const next = nextFragment(state, 0);
    expect(next?.kind === 'send' && next.command).toMatchObject({ offset: 228, fragment: file(700).slice(228, 328) });
  });

  it('sends empty fragments while the reader is finishing, but not for ever', () => {
    let state = answer(sending(100), 0, status({ status: 3 }));
    const next = nextFragment(state, 0);
    expect(next?.kind === 'send' && next.command).toMatchObject({ offset: 100, fragment: new Uint8Array(0) });
    for (let count = 0; count < 1_000 && state.end === undefined; count += 1)
      state = answer(state, 0, status({ status: 3 }));
    expect(state.end).toEqual({ kind: 'failed', problem: { kind: 'never-finishes' } });
  });

  it.each([
    [status({ status: 1 }), { kind: 'done', isRestarting: false }],
    [status({ status: 2 }), { kind: 'done', isRestarting: true }],
    [status({ status: -1 }), { kind: 'failed', problem: { kind: 'refused', status: -1 } }],
    [status({ status: -2 }), { kind: 'failed', problem: { kind: 'refused', status: -2 } }],
    [status({ status: -3 }), { kind: 'failed', problem: { kind: 'refused', status: -3 } }],
    [status({ wantsPlain: true }), { kind: 'failed', problem: { kind: 'plain-wanted' } }],
    [status({ longestMessage: 16 }), { kind: 'failed', problem: { kind: 'no-room' } }],
  ])('ends as the reader says: %o', (reply, end) => {
    const state = answer(sending(100), 0, reply);
    expect(state.end).toEqual(end);
    expect(nextFragment(state, 0)).toBeUndefined();
  });

  it('leaves the channel only where an operator allowed it', () => {
    expect(answer(sending(700, { isPlainAllowed: true }), 0, status({ wantsPlain: true })).end).toBeUndefined();
  });

  it('does not begin where nothing fits', () => {
    expect(sending(100, { longest: 20 }).end).toEqual({ kind: 'failed', problem: { kind: 'no-room' } });
  });
});

describe('receiving a file', () => {
  const part = (offset: number, length: number, total = 30) =>
    ({ kind: 'file-transfer', fileType: 1, total, offset, fragment: file(30).slice(offset, offset + length) }) as const;
  const statuses = (parts: readonly ReturnType<typeof part>[], longest = 100) => {
    let receiving: FileReceiving = noFile;
    return parts.map((command) => {
      const step = receiveFragment(receiving, command, longest);
      receiving = step.receiving;
      return step.reply.status;
    });
  };

  it('takes fragments in order and says when it is whole', () => {
    expect(statuses([part(0, 10), part(10, 10), part(20, 10)])).toEqual([0, 0, 1]);
  });

  it('refuses a gap, a repeat, an empty fragment and another length', () => {
    expect(statuses([part(0, 10), part(20, 10)])).toEqual([0, -3]);
    expect(statuses([part(0, 10), part(0, 10), part(10, 10)])).toEqual([0, 0, 0]);
    expect(statuses([part(0, 0)])).toEqual([-3]);
    expect(statuses([part(0, 10), part(10, 10, 29)])).toEqual([0, -3]);
  });

  it('does not take what is longer than its room', () => {
    expect(statuses([part(0, 10)], 29)).toEqual([-2]);
  });
});
