/** LSTAT (64): asks for tamper and power. */
import { emptyMessage } from '../message-codec.ts';

export const localStatusCommand = emptyMessage('local-status', 0x64);
