import { describe, expect, it } from 'vitest';
import { LineFault } from '#gateway/device/line.ts';
import { backOffMs, supervise } from '#gateway/device/supervise.ts';
import { waitUntil } from '../../fakes/wait-until.ts';

const isFault = (error: unknown): error is LineFault => error instanceof LineFault;

describe('the wait before another try', () => {
  const backOff = { firstMs: 100, longestMs: 1_000 };

  it('doubles up to its ceiling', () => {
    expect([1, 2, 3, 4, 5, 1_000_000].map((failures) => backOffMs(failures, backOff, 1))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
  });

  it('is spread between half and all', () => {
    expect(backOffMs(2, backOff, 0)).toBe(100);
    expect(backOffMs(2, backOff, 0.5)).toBe(150);
  });
});

describe('supervision', () => {
  const quick = { firstMs: 2, longestMs: 64 };

  it('runs a failing resource again and again, and reports each fault with its wait', async () => {
    const end = new AbortController();
    const reports: [string, number][] = [];
    const run = async () => {
      throw new LineFault('missing', 'gone');
    };
    const report = (fault: LineFault, ms: number) => void reports.push([fault.code, ms]);
    const running = supervise({ run, isFault, report, random: () => 1, backOff: quick }, end.signal);
    await waitUntil('four faults', () => reports.length >= 4);
    end.abort();
    await running;
    expect(reports.slice(0, 4)).toEqual([
      ['missing', 2],
      ['missing', 4],
      ['missing', 8],
      ['missing', 16],
    ]);
  });

  it('begins with the short wait again once it worked', async () => {
    const end = new AbortController();
    const waits: number[] = [];
    const run = async (_: AbortSignal, worked: () => void) => {
      if (waits.length === 3) worked();
      throw new LineFault('lost', 'gone');
    };
    const report = (_: LineFault, ms: number) => void waits.push(ms);
    const running = supervise({ run, isFault, report, random: () => 1, backOff: quick }, end.signal);
    await waitUntil('four faults', () => waits.length >= 4);
    end.abort();
    await running;
    expect(waits.slice(0, 4)).toEqual([2, 4, 8, 2]);
  });

  it('ends at once while waiting', async () => {
    const end = new AbortController();
    const run = async () => {
      throw new LineFault('lost', 'gone');
    };
    const report = () => end.abort();
    const forEver = { firstMs: 3_600_000, longestMs: 3_600_000 };
    await supervise({ run, isFault, report, random: () => 1, backOff: forEver }, end.signal);
    expect(end.signal.aborted).toBe(true);
  });

  it('does not survive a bug', async () => {
    const run = async () => {
      throw new TypeError('a bug');
    };
    const spec = { run, isFault, report: () => {}, random: () => 1, backOff: quick };
    await expect(supervise(spec, new AbortController().signal)).rejects.toThrow(TypeError);
  });
});
