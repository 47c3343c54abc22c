/** A credential is in force until it is taken back or its time is over; meanwhile it can be suspended and restored. */
import { declareMachine, illegal, noop, to } from '#shared/machine.ts';
import { keyConditions } from './derive-key.ts';

export const credentialMachine = declareMachine({
  name: 'credential',
  about:
    'A card, a PIN or a pass of one holder. It begins in force; what ended never comes back: a new one is issued instead.',
  states: ['issued', 'suspended', 'revoked', 'expired'],
  events: ['suspend', 'restore', 'revoke', 'expire'],
  initial: 'issued',
  conflict: 'CREDENTIAL_STATE_CHANGED',
  conditions: {
    ...keyConditions,
    isTimeOver: { says: 'its validity has ended', refuses: 'ILLEGAL_TRANSITION' },
  },
  cells: {
    suspend: {
      issued: to('suspended'),
      suspended: noop('ALREADY_SUSPENDED'),
      revoked: illegal,
      expired: illegal,
    },
    restore: {
      issued: noop('ALREADY_ISSUED'),
      suspended: to('issued', { needs: ['isHeld', 'isRightful', 'isWithinTime'] }),
      revoked: illegal,
      expired: illegal,
    },
    revoke: {
      issued: to('revoked'),
      suspended: to('revoked'),
      revoked: noop('ALREADY_REVOKED'),
      expired: illegal,
    },
    expire: {
      issued: to('expired', { needs: ['isTimeOver'] }),
      suspended: to('expired', { needs: ['isTimeOver'] }),
      revoked: illegal,
      expired: noop('ALREADY_EXPIRED'),
    },
  },
});

export type CredentialStatus = (typeof credentialMachine.states)[number];
export type CredentialEvent = (typeof credentialMachine.events)[number];
