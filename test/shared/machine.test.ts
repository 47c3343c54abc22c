import { expect, it } from 'vitest';
import { conflict, declareMachine, illegal, may, noop, refuse, step, to, when } from '#shared/machine.ts';
import { machinePage } from '#shared/machine-page.ts';
import { transitionRules } from '#shared/machine-rules.ts';

const lamp = declareMachine({
  name: 'lamp',
  about: 'A lamp that somebody may hold on.',
  states: ['off', 'on', 'broken'],
  events: ['press', 'hold', 'smash'],
  initial: 'off',
  conflict: 'CREDENTIAL_STATE_CHANGED',
  conditions: {
    isPowered: { says: 'there is power', refuses: 'PAYMENT_REQUIRED' },
    isAllowed: { says: 'it is allowed', refuses: 'NOT_AUTHORIZED' },
    isHeld: { says: 'somebody holds it' },
  },
  cells: {
    press: {
      off: to('on', { needs: ['isPowered', 'isAllowed'], sets: { reason: 'pressed' } }),
      on: [when('isHeld', refuse('NOT_AUTHORIZED')), to('off')],
      broken: conflict,
    },
    hold: { off: illegal, on: to('on', { sets: { holder: null } }), broken: [when('isHeld', noop('ALREADY_DONE'))] },
    smash: { off: to('broken'), on: to('broken'), broken: noop('ALREADY_DONE') },
  },
});
const nothing = { isPowered: false, isAllowed: false, isHeld: false };

it('answers every state and event with a transition, a no-op, a conflict or a named refusal', () => {
  for (const state of lamp.states) {
    for (const event of lamp.events) {
      for (const holds of [nothing, { isPowered: true, isAllowed: true, isHeld: true }]) {
        const outcome = step(lamp, state, event, holds);
        if (outcome.status === 'applied') expect(lamp.states).toContain(outcome.to);
        else expect(outcome.code).toMatch(/^[A-Z_]+$/);
      }
    }
  }
});

it('refuses with the code of the first condition that does not hold', () => {
  expect(step(lamp, 'off', 'press', nothing)).toEqual({ status: 'refused', code: 'PAYMENT_REQUIRED' });
  expect(step(lamp, 'off', 'press', { ...nothing, isPowered: true })).toEqual({
    status: 'refused',
    code: 'NOT_AUTHORIZED',
  });
  expect(step(lamp, 'off', 'press', { ...nothing, isPowered: true, isAllowed: true })).toEqual({
    status: 'applied',
    to: 'on',
    sets: { reason: 'pressed' },
  });
});

it('takes the first answer whose circumstances hold', () => {
  expect(step(lamp, 'on', 'press', { ...nothing, isHeld: true })).toEqual({
    status: 'refused',
    code: 'NOT_AUTHORIZED',
  });
  expect(step(lamp, 'on', 'press', nothing)).toEqual({ status: 'applied', to: 'off', sets: {} });
});

it('tells a conflict with the state as it is', () => {
  expect(step(lamp, 'broken', 'press', nothing)).toEqual({
    status: 'conflict',
    code: 'CREDENTIAL_STATE_CHANGED',
    current: 'broken',
  });
});

it('is illegal where no answer applies, and where a condition is not told', () => {
  expect(step(lamp, 'broken', 'hold', nothing)).toEqual({ status: 'refused', code: 'ILLEGAL_TRANSITION' });
  const untold = {} as typeof nothing;
  expect(step(lamp, 'off', 'press', untold)).toEqual({ status: 'refused', code: 'PAYMENT_REQUIRED' });
  expect(step(lamp, 'broken', 'hold', untold)).toEqual({ status: 'refused', code: 'ILLEGAL_TRANSITION' });
});

it('tells a job beforehand whether an event could change anything', () => {
  expect(may(lamp, 'off', 'press')).toBe(true);
  expect(may(lamp, 'off', 'hold')).toBe(false);
  expect(may(lamp, 'broken', 'smash')).toBe(false);
});

it('gives the database each transition once', () => {
  expect(transitionRules(lamp)).toEqual([
    { machine: 'lamp', event: 'press', from_state: 'off', to_state: 'on' },
    { machine: 'lamp', event: 'press', from_state: 'on', to_state: 'off' },
    { machine: 'lamp', event: 'hold', from_state: 'on', to_state: 'on' },
    { machine: 'lamp', event: 'smash', from_state: 'off', to_state: 'broken' },
    { machine: 'lamp', event: 'smash', from_state: 'on', to_state: 'broken' },
  ]);
});

it('shows itself as a table with every cell, its conditions, and a picture of what moves', () => {
  const page = machinePage(lamp);
  expect(page).toContain('| press | **on**, reason = pressed (needs isPowered, isAllowed) |');
  expect(page).toContain('if isHeld: refused NOT_AUTHORIZED; **off** | ~ |');
  expect(page).toContain('| hold | ✗ | **on**, holder = none | if isHeld: =ALREADY_DONE |');
  expect(page).toContain('- `isPowered`: there is power (else `PAYMENT_REQUIRED`)');
  expect(page).toContain('  on --> broken: smash');
  expect(page).not.toContain('on --> on');
});

it('refuses a declaration that contradicts itself', () => {
  const { cells } = lamp;
  expect(() => declareMachine({ ...lamp, initial: 'elsewhere' as 'off' })).toThrow('begins in a state of its own');
  expect(() => declareMachine({ ...lamp, states: [...lamp.states, 'off'] })).toThrow('names each state once');
  const lost = { ...cells, smash: { ...cells.smash, off: to('nowhere' as 'off') } };
  expect(() => declareMachine({ ...lamp, cells: lost })).toThrow('off × smash goes to a state of its own');
  const silent = { ...cells, smash: { ...cells.smash, off: to('broken' as const, { needs: ['isHeld' as const] }) } };
  expect(() => declareMachine({ ...lamp, cells: silent })).toThrow('isHeld says with which code it refuses');
});

it('does not compile with a cell forgotten, an unknown state or a condition untold', () => {
  // @ts-expect-error a condition that the machine names must be told
  expect(step(lamp, 'off', 'smash', { isPowered: true }).status).toBe('applied');
  // @ts-expect-error no event of the machine
  expect(() => may(lamp, 'off', 'paint')).toThrow();
  const { hold: _hold, ...forgotten } = lamp.cells;
  // @ts-expect-error an event without its row
  expect(() => declareMachine({ ...lamp, cells: forgotten })).toThrow();
});
