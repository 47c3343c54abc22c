import { describe, expect, it } from 'vitest';
import {
  type CommandState,
  commandMachine,
  offeredMs,
  overdue,
  silenceMs,
} from '#cloud/gateway-sync/command-lifecycle.ts';
import { step } from '#shared/machine.ts';

const requestedAt = 1_000_000;
const command = (state: CommandState, lifetimeMs = 20_000) => ({ state, requestedAt, lifetimeMs });
const over = { isTimeOver: true, isSilenceOver: true };

describe('a command', () => {
  it('is offered with a life that ends with the request’s, however long the poll has waited', () => {
    expect(offeredMs(command('queued'), requestedAt - 15_000, requestedAt + 1_000)).toBe(35_000);
    expect(offeredMs(command('delivered'), requestedAt + 10_000, requestedAt + 10_000)).toBe(10_000);
  });

  it('never gets more than a minute', () => {
    expect(offeredMs(command('queued', 60_000), requestedAt - 25_000, requestedAt)).toBe(60_000);
  });

  it('is not offered once its time is nearly over, or its end is known', () => {
    expect(offeredMs(command('queued'), requestedAt, requestedAt + 19_001)).toBeUndefined();
    for (const state of ['executed', 'refused', 'expired', 'interrupted', 'unknown'] as const)
      expect(offeredMs(command(state), requestedAt, requestedAt)).toBeUndefined();
  });

  it('expires only if it never left, and is unknown after a silence if it did', () => {
    const end = requestedAt + 20_000;
    expect(overdue(command('queued'), end - 1)).toBeUndefined();
    expect(overdue(command('queued'), end)).toBe('expire');
    expect(overdue(command('delivered'), end + silenceMs - 1)).toBeUndefined();
    expect(overdue(command('delivered'), end + silenceMs)).toBe('lose');
    expect(overdue(command('executed'), end + silenceMs)).toBeUndefined();
  });

  it.each(['queued', 'delivered', 'expired', 'unknown'] as const)(
    'that is %s is executed if the history says so',
    (state) => {
      expect(step(commandMachine, state, 'execute', over)).toMatchObject({ status: 'applied', to: 'executed' });
    },
  );

  it('does not expire or get lost before its time', () => {
    const early = { isTimeOver: false, isSilenceOver: false };
    expect(step(commandMachine, 'queued', 'expire', early)).toMatchObject({ status: 'refused' });
    expect(step(commandMachine, 'delivered', 'lose', early)).toMatchObject({ status: 'refused' });
    expect(step(commandMachine, 'delivered', 'expire', over)).toMatchObject({ status: 'refused' });
  });
});
