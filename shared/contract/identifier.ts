/** Ids at the boundary: one shape, branded where they are parsed. */
import * as z from 'zod';
import { type Identifier, identifier, identifierPattern } from '../identifier.ts';

const rule = 'must be 1–64 of a–z A–Z 0–9 . _ - and begin with a letter or digit';

export const idSchema = <Of extends string>() =>
  z
    .string()
    .regex(identifierPattern, rule)
    .transform((text) => identifier<Of>(text) as Identifier<Of>);

/** What people read: trimmed, 1–120 characters. */
export const nameSchema = z.string().trim().min(1).max(120);
