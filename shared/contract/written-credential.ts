/** Cards and PINs as people and programs write them, for imports and for the API alike. */
import * as z from 'zod';

/** At most 255 bits. Bits stand to the left: what follows the last of them in its byte is zero. */
export const writtenCardSchema = z.union([
  z.strictObject({ bits: z.string().regex(/^[01]{1,255}$/) }),
  z.strictObject({ bitCount: z.int().min(1).max(255), hex: z.string().regex(/^([0-9a-fA-F]{2}){1,32}$/) }),
  z.strictObject({
    format: z.string().min(1).max(32),
    facility: z.int().min(0).optional(),
    number: z.int().min(0),
  }),
]);

export const writtenPin = z.string().regex(/^\d{4,10}$/, 'must be 4–10 digits, in quotes');
