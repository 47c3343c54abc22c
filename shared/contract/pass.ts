/**
 * A pass: what a phone shows to a reader, signed by the cloud, verified at the door without contact.
 *
 * It is a bearer token: whoever holds its text can use it. It is short-lived, and its id can be revoked.
 */
import * as z from 'zod';
import { idSchema } from './identifier.ts';
import { wallSchema } from './sync/statement.ts';

/** As many doors as one pass may name; fewer where the text would grow past `passTextMax`. */
export const passDoorsMax = 24;
/**
 * The most characters of a pass: what a QR code of version 25 holds in bytes at error correction level M
 * (ISO/IEC 18004, table 7). Denser codes are hard to read from a phone's screen.
 */
export const passTextMax = 997;

export const passStatement = z.strictObject({
  /** The credential's id, by which it is revoked and journalled. */
  id: idSchema<'credential'>(),
  facility: idSchema<'facility'>(),
  doors: z.array(idSchema<'door'>()).min(1).max(passDoorsMax),
  /** Half-open validity [from, until). */
  from: wallSchema,
  until: wallSchema,
  /** How long it may be honoured without verified contact of the gateway with the cloud, ms. */
  leaseMs: z.int().min(1_000).max(31_622_400_000),
  /** `true`: good for one grant. */
  once: z.boolean(),
});
export type Pass = z.infer<typeof passStatement>;
