/** POLL (60): gives the peripheral its turn. Answered with ACK, or with one event that waits there. */
import { emptyMessage } from '../message-codec.ts';

export const pollCommand = emptyMessage('poll', 0x60);
