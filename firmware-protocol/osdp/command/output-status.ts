/** OSTAT (66): asks for the state of all outputs. */
import { emptyMessage } from '../message-codec.ts';

export const outputStatusCommand = emptyMessage('output-status', 0x66);
