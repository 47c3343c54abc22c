/** An invitation is open until somebody accepts it, it is taken back, or its time is over; then it stays as it is. */
import { declareMachine, illegal, noop, refuse, to, when } from '#shared/machine.ts';

const closed = refuse('INVITATION_CLOSED');

export const invitationMachine = declareMachine({
  name: 'invitation',
  about: 'Somebody of a facility invites somebody to a role in it, by e-mail.',
  states: ['sent', 'accepted', 'withdrawn', 'expired'],
  events: ['accept', 'withdraw', 'expire'],
  initial: 'sent',
  conflict: 'INVITATION_STATE_CHANGED',
  conditions: {
    isAddressee: {
      says: 'who accepts has verified the e-mail address it was sent to',
      refuses: 'INVITATION_EMAIL_DIFFERS',
    },
    inviterHoldsRank: { says: 'who invited may still give the role', refuses: 'INVITER_LOST_RANK' },
    isWithinTime: { says: 'its time is not over', refuses: 'INVITATION_CLOSED' },
    isAcceptor: { says: 'the same person accepted it before' },
    isTimeOver: { says: 'its time is over', refuses: 'ILLEGAL_TRANSITION' },
  },
  cells: {
    accept: {
      sent: to('accepted', { needs: ['isWithinTime', 'isAddressee', 'inviterHoldsRank'] }),
      accepted: [when('isAcceptor', noop('ALREADY_ACCEPTED')), refuse('INVITATION_USED')],
      withdrawn: closed,
      expired: closed,
    },
    withdraw: {
      sent: to('withdrawn'),
      accepted: closed,
      withdrawn: noop('ALREADY_WITHDRAWN'),
      expired: closed,
    },
    expire: {
      sent: to('expired', { needs: ['isTimeOver'] }),
      accepted: illegal,
      withdrawn: illegal,
      expired: noop('ALREADY_EXPIRED'),
    },
  },
});
