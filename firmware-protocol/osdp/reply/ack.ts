/** ACK (40): done, nothing to report. */
import { emptyMessage } from '../message-codec.ts';

export const ackReply = emptyMessage('ack', 0x40);
