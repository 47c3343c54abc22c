/** ISTAT (65): asks for the state of all inputs. */
import { emptyMessage } from '../message-codec.ts';

export const inputStatusCommand = emptyMessage('input-status', 0x65);
