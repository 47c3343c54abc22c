/** CRAUTH (A5): a PIV challenge to be answered by the card, in fragments; the whole is opaque here. */
import { fragmentMessage } from '../fragment.ts';

export const authenticateChallengeCommand = fragmentMessage('authenticate-challenge', 0xa5);
