/**
 * What each row of an import set must look like: the rows of the replica as a person writes them.
 *
 * Versions, salts and lookups are not written but made. What is left out has the default of the replica's row.
 */
import * as z from 'zod';
import { idSchema, nameSchema } from '#shared/contract/identifier.ts';
import {
  credentialRow,
  doorRow,
  facilityRow,
  holderRow,
  holidayRow,
  readerRow,
  scheduleRow,
} from '#shared/contract/replica-row.ts';
import { writtenCardSchema, writtenPin } from '#shared/contract/written-credential.ts';

/** A time with its offset, or without one in the facility's zone. */
const moment = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?$/, 'must be a date and time of day');

const credential = credentialRow
  .omit({ version: true, lookup: true, kind: true, validFrom: true, validUntil: true })
  .extend({
    card: writtenCardSchema.optional(),
    pin: writtenPin.optional(),
    status: credentialRow.shape.status.default('issued'),
    validFrom: moment.nullable().default(null),
    validUntil: moment.nullable().default(null),
    /** Without a cloud nobody renews a lease. */
    leaseMs: credentialRow.shape.leaseMs.default('unlimited'),
  });

const many = <Of extends string>(max: number) => z.array(idSchema<Of>()).min(1).max(max);

const grant = z.strictObject({
  id: idSchema<'grant'>(),
  credentials: many<'credential'>(240_000),
  doors: many<'door'>(256),
  schedule: idSchema<'schedule'>().nullable().default(null),
  validFrom: moment.nullable().default(null),
  validUntil: moment.nullable().default(null),
});

export const importSchemas = {
  facility: z.strictObject({ id: idSchema<'facility'>(), name: nameSchema, zone: facilityRow.shape.zone }),
  schedules: scheduleRow.omit({ version: true }),
  holidays: holidayRow.omit({ version: true }),
  doors: doorRow.omit({ version: true }),
  readers: readerRow.omit({ version: true }),
  holders: holderRow.omit({ version: true }),
  credentials: credential,
  grants: grant,
} as const;

export type Written = { readonly [Of in keyof typeof importSchemas]: z.infer<(typeof importSchemas)[Of]> };

/** The most rows a set may have, by section; what one gateway is made for. */
export const rowsMax: Readonly<Record<keyof Written, number>> = {
  facility: 1,
  schedules: 1_000,
  holidays: 2_000,
  doors: 256,
  readers: 1_024,
  holders: 240_000,
  credentials: 240_000,
  grants: 500_000,
};
/** Each grant multiplies: credentials by doors. */
export const grantRowsMax = 2_000_000;
