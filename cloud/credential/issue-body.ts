/** What people write to issue a credential. */
import * as z from 'zod';
import { idSchema } from '#shared/contract/identifier.ts';
import { credentialRow } from '#shared/contract/replica-row.ts';
import { writtenCardSchema } from '#shared/contract/written-credential.ts';
import { pinDigitsMax, pinDigitsMin } from './pin-policy.ts';

/** RFC 3339 with an offset. */
const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const bound = instant.nullable().default(null);

interface Validity {
  readonly validFrom: Date | null;
  readonly validUntil: Date | null;
}
const lasts = ({ validFrom, validUntil }: Validity): boolean =>
  validFrom === null || validUntil === null || validFrom < validUntil;
const endsAfterStart = { message: 'field.end_before_start', path: ['validUntil'] };

const grantShape = {
  door: idSchema<'door'>().optional(),
  group: idSchema<'group'>().optional().describe('Every door of the group, those that join it later too.'),
  schedule: idSchema<'schedule'>().nullable().default(null).describe('null: at all times.'),
  validFrom: bound,
  validUntil: bound,
};
const namesOne = ({ door, group }: { readonly door?: unknown; readonly group?: unknown }): boolean =>
  (door === undefined) !== (group === undefined);
const eitherDoorOrGroup = { message: 'field.invalid', path: ['door'] };

export const newGrant = z.strictObject(grantShape).refine(namesOne, eitherDoorOrGroup).refine(lasts, endsAfterStart);
export type NewGrant = z.output<typeof newGrant>;

export const newGrantOfCredential = z
  .strictObject({ credential: idSchema<'credential'>(), ...grantShape })
  .refine(namesOne, eitherDoorOrGroup)
  .refine(lasts, endsAfterStart);

/** A card as it is written, or the one that was read in an enrolment window. */
export const cardSchema = z.union([writtenCardSchema, z.strictObject({ window: idSchema<'window'>() })]);
export type NewCard = z.output<typeof cardSchema>;
export const pinSchema = z.strictObject({ digits: z.int().min(pinDigitsMin).max(pinDigitsMax).default(6) });
const passSchema = z.strictObject({});

const week = 7 * 24 * 3_600_000;
/** Doors, where one credential names them one by one. */
const grantsMax = 64;

export const issueBody = z
  .strictObject({
    holder: idSchema<'holder'>(),
    card: cardSchema.optional(),
    pin: pinSchema.optional().describe('A PIN is drawn, and shown in this answer.'),
    pass: passSchema.optional().describe('A signed pass for a phone; its doors are those of the grants.'),
    validFrom: bound,
    validUntil: bound,
    leaseMs: credentialRow.shape.leaseMs
      .default(week)
      .describe('How long a gateway without contact to the cloud honours it, ms.'),
    usesMax: credentialRow.shape.usesMax,
    isDuress: z.boolean().default(false),
    overridesLockdown: z.boolean().default(false),
    needsExtendedTime: z.boolean().default(false),
    isFirstPerson: z.boolean().default(false),
    grants: z.array(newGrant).max(grantsMax).default([]).describe('Needs the right to manage access.'),
  })
  .refine(({ card, pin, pass }) => [card, pin, pass].filter((one) => one !== undefined).length === 1, {
    message: 'field.required',
    path: ['card'],
  })
  .refine(lasts, endsAfterStart)
  .superRefine((body, context) => {
    if (body.pass === undefined) return;
    for (const path of unsuited(body)) {
      const message = path[0] === 'validUntil' ? 'field.required' : 'field.invalid';
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  });
export type IssueBody = z.output<typeof issueBody>;

const flags = ['isDuress', 'overridesLockdown', 'needsExtendedTime', 'isFirstPerson'] as const;

interface PassTerms extends Readonly<Record<(typeof flags)[number], boolean>> {
  readonly validUntil: Date | null;
  readonly leaseMs: number | 'unlimited';
  readonly usesMax: number | null;
  readonly grants: readonly NewGrant[];
}

/** What a pass cannot say of itself: it names doors, one validity, a lease, and whether it is good once. */
function unsuited(terms: PassTerms): readonly (readonly (string | number)[])[] {
  const narrowed = terms.grants.flatMap(({ schedule, validFrom, validUntil }, at) =>
    schedule === null && validFrom === null && validUntil === null ? [] : [['grants', at]],
  );
  return [
    ...(terms.validUntil === null ? [['validUntil']] : []),
    ...(terms.leaseMs === 'unlimited' ? [['leaseMs']] : []),
    ...(terms.usesMax === null || terms.usesMax === 1 ? [] : [['usesMax']]),
    ...flags.filter((flag) => terms[flag]).map((flag) => [flag]),
    ...(terms.grants.length === 0 ? [['grants']] : []),
    ...narrowed,
  ];
}
