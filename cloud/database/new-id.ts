/**
 * Makes the ids of rows: a prefix that says of what, then 26 characters that sort by the time they were made.
 *
 * Crockford base32 of 48 bits of Unix milliseconds and 80 random bits. Unguessable enough to be unique, not to be a secret.
 * Not promised: order within one millisecond.
 */
import { randomUUID } from 'node:crypto';
import { type Identifier, identifier } from '#shared/identifier.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** @param prefix two to four lower-case letters, e.g. `crd`. */
export function newId<Of extends string>(prefix: string): Identifier<Of> {
  // The runtime draws the randomness of many UUIDs at once. All digits of their first and last group are random.
  const uuid = randomUUID();
  const random = uuid.slice(0, 8) + uuid.slice(24);
  let text = base32(Date.now(), 10);
  for (let at = 0; at < random.length; at += 5) text += base32(Number.parseInt(random.slice(at, at + 5), 16), 4);
  return identifier<Of>(`${prefix}_${text}`);
}

/** @param value a whole number below 32 ** places. */
function base32(value: number, places: number): string {
  let [text, rest] = ['', value];
  for (let place = 0; place < places; place += 1) {
    text = (alphabet[rest % 32] ?? '') + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
