import { describe, expect, it } from 'vitest';
import { CommandQueue, queueMax } from '#gateway/device/osdp/command-queue.ts';
import { monoMs } from '#shared/instant.ts';

const beep = { kind: 'buzzer', reader: 0, tone: 'default', onTenths: 1, offTenths: 1, count: 1 } as const;
const release = { kind: 'output', records: [{ output: 0, action: 'on-for-timer', timerTenths: 30 }] } as const;
const at = monoMs(0);
const soon = monoMs(1_000);

describe('the commands of one reader', () => {
  it('begin in order, one at a time', async () => {
    const queue = new CommandQueue();
    const first = queue.add(beep, false, soon);
    void queue.add(release, false, soon);
    const begun = queue.begin(at);
    expect(begun?.command).toBe(beep);
    expect(queue.begin(at)).toBeUndefined();
    queue.end(begun?.id ?? 0, { kind: 'accepted', reply: { kind: 'ack' } });
    expect(await first).toEqual({ kind: 'done' });
    expect(queue.begin(at)?.command).toBe(release);
  });

  it('let urgent ones go first, in their own order', () => {
    const queue = new CommandQueue();
    void queue.add(beep, false, soon);
    void queue.add(release, true, soon);
    void queue.add({ ...release }, true, soon);
    expect(queue.isUrgent).toBe(true);
    expect(queue.begin(at)?.command).toBe(release);
  });

  it('are not begun at or after their deadline', async () => {
    const queue = new CommandQueue();
    const late = queue.add(release, true, soon);
    expect(queue.earliestDeadline).toBe(soon);
    expect(queue.begin(soon)).toBeUndefined();
    expect(await late).toEqual({ kind: 'not-executed', reason: 'expired' });
  });

  it('are bounded', async () => {
    const queue = new CommandQueue();
    for (let count = 0; count < queueMax; count += 1) void queue.add(beep, false, soon);
    expect(await queue.add(release, true, soon)).toEqual({ kind: 'not-executed', reason: 'busy' });
  });

  it('end with the reader’s absence, but for the one that may have been carried out', async () => {
    const queue = new CommandQueue();
    const sent = queue.add(release, true, soon);
    const waiting = queue.add(beep, false, soon);
    const begun = queue.begin(at);
    queue.clear();
    expect(await waiting).toEqual({ kind: 'not-executed', reason: 'offline' });
    queue.end(begun?.id ?? 0, { kind: 'unknown' });
    expect(await sent).toEqual({ kind: 'unknown' });
    expect(queue.isEmpty).toBe(true);
  });

  it('carry the reader’s refusal', async () => {
    const queue = new CommandQueue();
    const refused = queue.add(beep, false, soon);
    queue.end(queue.begin(at)?.id ?? 0, { kind: 'refused', nak: 3 });
    expect(await refused).toEqual({ kind: 'refused', reason: 'nak-3' });
  });
});
