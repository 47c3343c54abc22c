/** A gateway comes in with a code, is let in by a person, and is never let in again once it was put out. */
import { conflict, declareMachine, illegal, noop, to } from '#shared/machine.ts';

const over = { revoked: conflict, superseded: conflict } as const;

export const gatewayMachine = declareMachine({
  name: 'gateway',
  about:
    'A machine on site. It gives its keys with a code, and gets nothing before a person has compared its fingerprint. ' +
    'In quarantine its history is in doubt: its doors go on and its feed too, but it takes no commands until a person ' +
    'has found out why, and lets it go on or replaces it.',
  states: ['enrolling', 'active', 'quarantined', 'revoked', 'superseded'],
  events: ['confirm', 'quarantine', 'release', 'revoke', 'supersede'],
  initial: 'enrolling',
  conflict: 'GATEWAY_STATE_CHANGED',
  conditions: {
    isSameFingerprint: {
      says: 'the fingerprint is the one the person read on the machine',
      refuses: 'FINGERPRINT_DIFFERS',
    },
  },
  cells: {
    confirm: {
      enrolling: to('active', { needs: ['isSameFingerprint'] }),
      active: noop('ALREADY_CONFIRMED'),
      quarantined: noop('ALREADY_CONFIRMED'),
      ...over,
    },
    quarantine: {
      enrolling: illegal,
      active: to('quarantined'),
      quarantined: noop('ALREADY_QUARANTINED'),
      ...over,
    },
    release: {
      enrolling: illegal,
      active: noop('ALREADY_RELEASED'),
      quarantined: to('active'),
      ...over,
    },
    revoke: {
      enrolling: to('revoked'),
      active: to('revoked'),
      quarantined: to('revoked'),
      revoked: noop('ALREADY_REVOKED'),
      superseded: noop('ALREADY_SUPERSEDED'),
    },
    supersede: {
      enrolling: illegal,
      active: to('superseded'),
      quarantined: to('superseded'),
      revoked: noop('ALREADY_REVOKED'),
      superseded: noop('ALREADY_SUPERSEDED'),
    },
  },
});

export type GatewayStatus = (typeof gatewayMachine.states)[number];

/** Whether the feed goes to it, and its calls are answered. */
export const isServed = (status: GatewayStatus): boolean => status === 'active' || status === 'quarantined';
