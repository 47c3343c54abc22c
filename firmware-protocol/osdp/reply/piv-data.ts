/** PIVDATAR (80): a data object of a PIV card, in fragments; the whole is opaque here. */
import { fragmentMessage } from '../fragment.ts';

export const pivDataReply = fragmentMessage('piv-data', 0x80);
