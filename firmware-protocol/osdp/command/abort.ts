/** ABORT (A2): ends whatever long operation the peripheral is in. */
import { emptyMessage } from '../message-codec.ts';

export const abortCommand = emptyMessage('abort', 0xa2);
