/**
 * The rows of a replica: what a door needs to know to decide, and nothing else.
 *
 * They come from the cloud's feed or from a local import, and are the same either way.
 * No card number and no PIN stands here in clear: a credential is found by its keyed lookup value.
 */
import * as z from 'zod';
import type { ScheduleId } from '../identifier.ts';
import { wallMs } from '../instant.ts';
import { idSchema, nameSchema } from './identifier.ts';

const wall = z.int().min(0).max(8_640_000_000_000_000).transform(wallMs);
/** A credential without an end, or a grant without a beginning, is `null` there. */
const bound = wall.nullable();
const milliseconds = (min: number, max: number) => z.int().min(min).max(max);
const hex = (bytes: number) =>
  z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`), `must be ${bytes} bytes in lower-case hexadecimal`);

const deviceId = idSchema<'device'>();
const scheduleId = idSchema<'schedule'>();

/** When a restriction applies: not at all, all the time, or inside a schedule. */
const ruleSchema = z.union([z.literal('never'), z.literal('always'), z.strictObject({ schedule: scheduleId })]);
export type Rule = 'never' | 'always' | { readonly schedule: ScheduleId };

const inputSchema = z.strictObject({
  device: deviceId,
  /** Index of the input on the device, from 0. */
  input: z.int().min(0).max(255),
  /** Whether the input reads active while the condition it is named after holds (door open, button pressed, fire). */
  activeWhenTrue: z.boolean().default(true),
  /** A supervised loop: short, cut and fault are tamper; otherwise they read as the condition being true. */
  supervised: z.boolean().default(false),
});
export type InputPoint = z.infer<typeof inputSchema>;

export const facilityRow = z.strictObject({
  id: idSchema<'facility'>(),
  name: nameSchema,
  /** IANA zone, for example Asia/Tokyo; schedules are civil time in it. */
  zone: z.string().min(1).max(64),
  /** Salt of the slow hash of PINs. */
  pinSalt: hex(16),
  version: z.int().min(1),
});
export type FacilityRow = z.infer<typeof facilityRow>;

export const doorRow = z.strictObject({
  id: idSchema<'door'>(),
  name: nameSchema,
  lock: z
    .strictObject({
      device: deviceId,
      output: z.int().min(0).max(255),
      /** `energise`: a fail-secure strike, power releases. `de-energise`: a fail-safe maglock, power secures. */
      release: z.enum(['energise', 'de-energise']).default('energise'),
    })
    .nullable(),
  contact: inputSchema.nullable().default(null),
  rex: inputSchema.nullable().default(null),
  fire: inputSchema.nullable().default(null),
  /** How long a grant releases the lock. */
  strikeMs: milliseconds(200, 600_000).default(5_000),
  /** The same for a holder who needs longer. */
  extendedStrikeMs: milliseconds(200, 600_000).default(15_000),
  /** Open longer than this is held; the pre-alarm sounds `heldWarningMs` before. */
  heldMs: milliseconds(1_000, 86_400_000).default(30_000),
  extendedHeldMs: milliseconds(1_000, 86_400_000).default(60_000),
  heldWarningMs: milliseconds(0, 86_400_000).default(10_000),
  relockOnOpen: z.boolean().default(true),
  debounceMs: milliseconds(0, 5_000).default(50),
  /** Whether the exit button also releases the lock (it always shunts the forced alarm). */
  rexReleases: z.boolean().default(false),
  /** When a card needs a PIN after it. */
  secondFactor: ruleSchema.default('never'),
  /** When two granted holders are needed within 15 s. */
  escort: ruleSchema.default('never'),
  antiPassback: z
    .strictObject({ mode: z.enum(['off', 'soft', 'hard']), when: ruleSchema })
    .default({ mode: 'off', when: 'always' }),
  /** No grant until a holder so marked entered today. */
  firstPerson: ruleSchema.default('never'),
  /** Inside this schedule the door stands free (after the first person, if `firstPerson` applies). */
  freeSchedule: scheduleId.nullable().default(null),
  /** Doors of one group on one gateway are released only while all others of it are secured. */
  interlockGroup: z.string().min(1).max(64).nullable().default(null),
  version: z.int().min(1),
});
export type DoorRow = z.infer<typeof doorRow>;

export const readerRow = z.strictObject({
  id: idSchema<'reader'>(),
  name: nameSchema,
  door: idSchema<'door'>(),
  device: deviceId,
  /** Reader number on the device, from 0 (not its bus address). */
  head: z.int().min(0).max(255).default(0),
  /** Areas for anti-passback; `null` is outside. */
  fromArea: z.string().min(1).max(64).nullable().default(null),
  toArea: z.string().min(1).max(64).nullable().default(null),
  /** How bits are read before lookup: some readers send a UID's bytes reversed. */
  uidOrder: z.enum(['as-sent', 'reversed']).default('as-sent'),
  /** Which of the two 37-bit formats this site uses, and custom formats by name. */
  cardFormats: z.array(z.string().min(1).max(32)).max(16).default([]),
  version: z.int().min(1),
});
export type ReaderRow = z.infer<typeof readerRow>;

/** Civil time of day, `00:00`–`23:59`; `24:00` is allowed as an end. An end not after its start is the next day's. */
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'must be a time of day HH:MM');
export const weekday = z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);
export type Weekday = z.infer<typeof weekday>;

export const scheduleRow = z.strictObject({
  id: scheduleId,
  name: nameSchema,
  weekly: z.array(z.strictObject({ days: z.array(weekday).min(1).max(7), from: timeOfDay, until: timeOfDay })).max(64),
  /** On holidays these replace the weekday's; none = closed. */
  onHolidays: z
    .array(z.strictObject({ from: timeOfDay, until: timeOfDay }))
    .max(16)
    .default([]),
  version: z.int().min(1),
});
export type ScheduleRow = z.infer<typeof scheduleRow>;

export const holidayRow = z.strictObject({
  id: idSchema<'holiday'>(),
  name: nameSchema,
  /** Civil date in the facility's zone. */
  date: z.iso.date(),
  version: z.int().min(1),
});
export type HolidayRow = z.infer<typeof holidayRow>;

export const holderRow = z.strictObject({ id: idSchema<'holder'>(), name: nameSchema, version: z.int().min(1) });
export type HolderRow = z.infer<typeof holderRow>;

export const credentialRow = z.strictObject({
  id: idSchema<'credential'>(),
  holder: idSchema<'holder'>(),
  kind: z.enum(['card', 'pin']),
  /** HMAC-SHA-256 under the facility's lookup key over kind and normalized value. */
  lookup: hex(32),
  status: z.enum(['issued', 'suspended', 'revoked']),
  /** Half-open validity [validFrom, validUntil). */
  validFrom: bound.default(null),
  validUntil: bound.default(null),
  /** How long it may be honoured without verified contact with the cloud. */
  leaseMs: z.union([milliseconds(1_000, 31_622_400_000), z.literal('unlimited')]),
  /** How many grants it is good for; `null` = any number. */
  usesMax: z.int().min(1).max(1_000_000).nullable().default(null),
  /** Opens like any other, and raises a silent alarm. */
  isDuress: z.boolean().default(false),
  overridesLockdown: z.boolean().default(false),
  needsExtendedTime: z.boolean().default(false),
  /** Its holder's entry satisfies the first-person rule. */
  isFirstPerson: z.boolean().default(false),
  version: z.int().min(1),
});
export type CredentialRow = z.infer<typeof credentialRow>;

/** One credential at one door. A grant over several doors is several rows of one `grant`. */
export const grantRow = z.strictObject({
  grant: idSchema<'grant'>(),
  credential: idSchema<'credential'>(),
  door: idSchema<'door'>(),
  /** `null` = at all times. */
  schedule: scheduleId.nullable().default(null),
  validFrom: bound.default(null),
  validUntil: bound.default(null),
  version: z.int().min(1),
});
export type GrantRow = z.infer<typeof grantRow>;

/** Everything of one facility that a gateway holds, in the order in which tables are filled. */
export interface FacilityRows {
  readonly facility: FacilityRow;
  readonly schedules: readonly ScheduleRow[];
  readonly holidays: readonly HolidayRow[];
  readonly doors: readonly DoorRow[];
  readonly readers: readonly ReaderRow[];
  readonly holders: readonly HolderRow[];
  readonly credentials: readonly CredentialRow[];
  readonly grants: readonly GrantRow[];
}
