/** CRAUTHR (82): the card’s answer to a PIV challenge, in fragments; the whole is opaque here. */
import { fragmentMessage } from '../fragment.ts';

export const authenticateChallengeReply = fragmentMessage('authenticate-challenge', 0x82);
