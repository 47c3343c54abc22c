import { describe, expect, it } from 'vitest';
import { nothingReported, type Report, reportEvents } from '#gateway/device/osdp/report-events.ts';
import type { DecodedReply } from '#protocol/osdp/message.ts';

/** What is told for replies in order, over one connection. */
function told(...replies: readonly DecodedReply[]): readonly (readonly Report[])[] {
  let memory = nothingReported;
  return replies.map((reply) => {
    const step = reportEvents(memory, reply);
    memory = step.memory;
    return step.reports;
  });
}
const local = (isTampered: boolean, hasPowerFailed = false): DecodedReply => ({
  kind: 'local-status',
  isTampered,
  hasPowerFailed,
});

describe('what a reader reports', () => {
  it('tells every input once after connecting, then changes only', () => {
    expect(
      told(
        { kind: 'input-status', inputs: ['inactive', 'active'] },
        { kind: 'input-status', inputs: ['inactive', 'active'] },
        { kind: 'input-status', inputs: ['inactive', 'cut'] },
      ),
    ).toEqual([
      [
        { kind: 'input', input: 0, state: 'inactive' },
        { kind: 'input', input: 1, state: 'active' },
      ],
      [],
      [{ kind: 'input', input: 1, state: 'cut' }],
    ]);
  });

  it('remembers inputs that a shorter report leaves out', () => {
    const [, shorter, whole] = told(
      { kind: 'input-status', inputs: ['inactive', 'active'] },
      { kind: 'input-status', inputs: ['active'] },
      { kind: 'input-status', inputs: ['active', 'active'] },
    );
    expect(shorter).toEqual([{ kind: 'input', input: 0, state: 'active' }]);
    expect(whole).toEqual([]);
  });

  it('tells outputs that changed', () => {
    expect(told({ kind: 'output-status', outputs: [false] }, { kind: 'output-status', outputs: [true] })).toEqual([
      [{ kind: 'output', output: 0, isActive: false }],
      [{ kind: 'output', output: 0, isActive: true }],
    ]);
  });

  it('tells tamper and power after connecting even when all is well', () => {
    expect(told(local(false))).toEqual([
      [
        { kind: 'tamper', isActive: false },
        { kind: 'power', hasFailed: false },
      ],
    ]);
  });

  it('tells one tamper for the case and its heads, until both are whole', () => {
    const readers = (...states: ('ok' | 'tampered')[]): DecodedReply => ({ kind: 'reader-status', readers: states });
    const [, , ...after] = told(
      local(false),
      readers('ok'),
      local(true),
      readers('tampered'),
      local(false),
      readers('ok'),
    );
    expect(after).toEqual([[{ kind: 'tamper', isActive: true }], [], [], [{ kind: 'tamper', isActive: false }]]);
  });

  it('tells every card and key, also twice the same', () => {
    const card: DecodedReply = { kind: 'card', reader: 0, format: 1, bitCount: 26, bytes: Uint8Array.of(1, 2, 3, 64) };
    const keys: DecodedReply = { kind: 'keys', reader: 1, keys: Uint8Array.of(0x31, 0x0d, 0x7f) };
    expect(told(card, card, keys)).toEqual([
      [{ kind: 'card', head: 0, format: 1, bitCount: 26, bytes: card.bytes }],
      [{ kind: 'card', head: 0, format: 1, bitCount: 26, bytes: card.bytes }],
      [{ kind: 'keys', head: 1, keys: '1#*' }],
    ]);
  });

  it('takes what it does not understand as nothing', () => {
    expect(told({ kind: 'ack' }, { kind: 'unknown', code: 0xee, data: Uint8Array.of(1) })).toEqual([[], []]);
  });
});
