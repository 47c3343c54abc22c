/** What a statement says before anybody has vouched for it: only for finding the key that must have signed it. */
import type * as z from 'zod';

/** @returns `undefined` where it is no JWS whose payload has that shape. */
export function claimedBy<Schema extends z.ZodType>(jws: string, schema: Schema): z.output<Schema> | undefined {
  try {
    const payload: unknown = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return schema.safeParse(payload).data;
  } catch {
    return undefined;
  }
}
