/** RSTAT (67): asks for the state of the readers attached to the peripheral. */
import { emptyMessage } from '../message-codec.ts';

export const readerStatusCommand = emptyMessage('reader-status', 0x67);
