import { describe, expect, it } from 'vitest';
import type { LockPoint } from '#gateway/device/driver.ts';
import { lockOutput } from '#gateway/device/osdp/lock-output.ts';
import { encodeCommand } from '#protocol/osdp/message.ts';
import { identifier } from '#shared/identifier.ts';

const requestId = identifier<'request'>('r1');
const strike: LockPoint = { output: 1, release: 'energise' };
const magnet: LockPoint = { output: 2, release: 'de-energise' };
const bytes = (command: Parameters<typeof lockOutput>[0]) =>
  Buffer.from(encodeCommand(lockOutput(command)).data).toString('hex');

describe('a lock on a reader’s output', () => {
  it.each([
    ['a strike is energised for the time', strike, 'release', '01051e00'],
    ['a magnet is de-energised for the time', magnet, 'release', '02061e00'],
    ['a strike is secured by permanent off', strike, 'secure', '01010000'],
    ['a magnet is secured by permanent on', magnet, 'secure', '02020000'],
    ['a strike is freed by permanent on', strike, 'free', '01020000'],
    ['a magnet is freed by permanent off', magnet, 'free', '02010000'],
  ] as const)('%s', (_, lock, kind, expected) => {
    expect(bytes({ kind, requestId, lock, ms: 3_000 })).toBe(expected);
  });

  it.each([
    [1, '01050100'],
    [100, '01050100'],
    [101, '01050200'],
    [6_553_500, '0105ffff'],
    [99_999_999, '0105ffff'],
  ])('%d ms is rounded up to tenths of a second and capped', (ms, expected) => {
    expect(bytes({ kind: 'release', requestId, lock: strike, ms })).toBe(expected);
  });
});
