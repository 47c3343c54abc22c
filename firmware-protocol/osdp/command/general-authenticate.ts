/** GENAUTH (A4): a PIV general authenticate, in fragments; the whole is opaque here. */
import { fragmentMessage } from '../fragment.ts';

export const generalAuthenticateCommand = fragmentMessage('general-authenticate', 0xa4);
