import { describe, expect, it } from 'vitest';
import { createWaiters } from '#cloud/gateway-sync/waiters.ts';

const forever = new AbortController().signal;

describe('a waiter', () => {
  it('is woken by a hint for its gateway, and by none for another', async () => {
    const waiters = createWaiters();
    const mine = waiters.enter('a');
    const other = waiters.enter('b');
    const waiting = mine?.wait(60_000, forever);
    const longer = other?.wait(60_000, forever);
    waiters.wake('a');
    expect(await waiting).toBe('woken');
    waiters.close();
    expect(await longer).toBe('woken');
  });

  it('does not miss a hint that came between its look and its wait', async () => {
    const waiters = createWaiters();
    const ticket = waiters.enter('a');
    waiters.wake('a');
    expect(await ticket?.wait(60_000, forever)).toBe('woken');
  });

  it('ends by its time, and when nobody waits for the answer any more', async () => {
    const waiters = createWaiters();
    expect(await waiters.enter('a')?.wait(1, forever)).toBe('time');
    const gone = new AbortController();
    const waiting = waiters.enter('a')?.wait(60_000, gone.signal);
    gone.abort();
    expect(await waiting).toBe('gone');
    expect(await waiters.enter('a')?.wait(60_000, gone.signal)).toBe('gone');
  });

  it('takes a place that is free again afterwards; there is a limit to them', () => {
    const waiters = createWaiters(2);
    const [one, two] = [waiters.enter('a'), waiters.enter('b')];
    expect(waiters.enter('c')).toBeUndefined();
    expect(waiters.count()).toBe(2);
    one?.leave();
    one?.leave();
    expect(waiters.count()).toBe(1);
    expect(waiters.enter('c')).toBeDefined();
    two?.leave();
  });

  it('of one gateway gives way to newer ones, so that abandoned polls do not pile up', async () => {
    const waiters = createWaiters();
    const first = waiters.enter('a')?.wait(60_000, forever);
    for (let n = 0; n < 10; n += 1) waiters.enter('a');
    expect(await first).toBe('woken');
    expect(waiters.count()).toBe(4);
  });

  it('ends with the server, which lets nobody in any more', async () => {
    const waiters = createWaiters();
    const waiting = waiters.enter('a')?.wait(60_000, forever);
    waiters.close();
    expect(await waiting).toBe('woken');
    expect(waiters.enter('a')).toBeUndefined();
  });
});
