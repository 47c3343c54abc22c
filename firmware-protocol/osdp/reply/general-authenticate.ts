/** GENAUTHR (81): the answer to a PIV general authenticate, in fragments; the whole is opaque here. */
import { fragmentMessage } from '../fragment.ts';

export const generalAuthenticateReply = fragmentMessage('general-authenticate', 0x81);
