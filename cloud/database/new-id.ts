/**
 * Makes the ids of rows: a prefix that says of what, then 26 characters that sort by the time they were made.
 *
 * Crockford base32 of 48 bits of Unix milliseconds and 80 random bits. Unguessable enough to be unique, not to be a secret.
 * Not promised: order within one millisecond.
 */
import { randomBytes } from 'node:crypto';
import { type Identifier, identifier } from '#shared/identifier.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** @param prefix two to four lower-case letters, e.g. `crd`. */
export function newId<Of extends string>(prefix: string): Identifier<Of> {
  const random = BigInt(`0x${randomBytes(10).toString('hex')}`);
  let value = (BigInt(Date.now()) << 80n) | random;
  let text = '';
  for (let place = 0; place < 26; place += 1) {
    text = (alphabet[Number(value & 31n)] ?? '') + text;
    value >>= 5n;
  }
  return identifier<Of>(`${prefix}_${text}`);
}
