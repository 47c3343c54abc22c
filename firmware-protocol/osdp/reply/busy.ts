/** BUSY (79): ask the same again later. Sent plain with sequence 0 even in a session, or inside the session, by vendor. */
import { emptyMessage } from '../message-codec.ts';

export const busyReply = emptyMessage('busy', 0x79);
