/**
 * What passes over the control sockets: one JSON object a line, typed, bounded, with a deadline.
 *
 * A call gets exactly one reply, or a stream of items and then one reply. The socket decides the rights:
 * whoever can open `admin.sock` may act; `edge.sock` may look, and relay what others signed.
 */
import * as z from 'zod';
import { idSchema } from '#shared/contract/identifier.ts';
import { relayVerbs, syncCalls } from './sync-calls.ts';

/** Longest line on a control socket, bytes; a relayed chunk of a snapshot is the largest message. */
export const messageBytesMax = 768 * 1024;
/** Largest import accepted, bytes over all its files. */
export const importBytesMax = 256 * 1024 * 1024;
export const chunkBytesMax = 256 * 1024;
/** What a file of an import may be called on its way: at most 64 signs, of which none leads out of its folder. */
export const importNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,58}\.(json|csv)$/;

const door = idSchema<'door'>();
const device = idSchema<'device'>();
const limit = z.int().min(1).max(1_000);
const wall = z.iso.datetime({ offset: true, error: 'must be a time like 2026-01-31T09:00:00+09:00' });

/** A credential as an operator names it. */
const presentedSchema = z.union([
  z.strictObject({ credential: idSchema<'credential'>() }),
  z.strictObject({ card: z.strictObject({ bits: z.string().regex(/^[01]{1,256}$/, 'must be 1–256 binary digits') }) }),
  z.strictObject({ pin: z.string().regex(/^\d{4,10}$/, 'must be 4–10 digits') }),
]);
export type NamedCredential = z.infer<typeof presentedSchema>;

export const calls = {
  /** Everything at a glance: doors, devices, clock, storage, replica. */
  status: z.strictObject({}),
  /** Entries after a sequence number, or the newest. */
  events: z.union([z.strictObject({ after: z.int().min(0), limit }), z.strictObject({ newest: limit })]),
  /** Stream: entries as they become durable, and doors as they change. */
  follow: z.strictObject({ newest: z.int().min(0).max(1_000).default(0) }),
  /** A past decision, by its request. */
  explain: z.strictObject({ request: idSchema<'request'>() }),
  /** A decision that nobody asked for: nothing is journalled, no use is spent, no door moves. */
  simulate: z.strictObject({
    door,
    presented: presentedSchema,
    secondFactor: z
      .string()
      .regex(/^\d{4,10}$/)
      .optional(),
    at: wall.optional(),
  }),
  /** Cards read in the last minute that are not known here, for enrolment. */
  reads: z.strictObject({}),
  release: z.strictObject({ door, ms: z.int().min(200).max(600_000).optional() }),
  mode: z.strictObject({ door: z.union([door, z.literal('*')]), mode: z.enum(['controlled', 'free', 'lockdown']) }),
  'install-window': z.strictObject({ device, seconds: z.int().min(10).max(900).default(120) }),
  /** A device was exchanged on purpose: forgets its identity and key. */
  'accept-device': z.strictObject({ device }),
  'clock-set': z.strictObject({ at: wall }),
  /** Forgets where anti-passback believes a holder, or everybody (`*`), to be. */
  'area-reset': z.strictObject({ holder: z.union([idSchema<'holder'>(), z.literal('*')]) }),
  'import-begin': z.strictObject({
    files: z
      .array(
        z.strictObject({
          name: z.string().regex(importNamePattern),
          bytes: z.int().min(1).max(importBytesMax),
        }),
      )
      .min(1)
      .max(16),
  }),
  'import-chunk': z.strictObject({
    import: z.string().max(64),
    name: z.string().max(64),
    base64: z.base64().max(chunkBytesMax * 2),
  }),
  /** Stream: progress; the reply is the report. `dryRun` checks everything and changes nothing. */
  'import-commit': z.strictObject({ import: z.string().max(64), dryRun: z.boolean().default(false) }),
  /** Stream: progress; the reply is the report. */
  'verify-journal': z.strictObject({}),
  /** Stream: redacted bus traffic. */
  capture: z.strictObject({ line: idSchema<'line'>().optional(), form: z.enum(['text', 'pcapng']).default('text') }),
  ...syncCalls,
} as const;

export type Verb = keyof typeof calls;
export type Arguments<Of extends Verb> = z.infer<(typeof calls)[Of]>;

/** What `edge.sock` may call: nothing here moves a door or changes what is known, but by the word of the cloud. */
export const lookingVerbs: ReadonlySet<Verb> = new Set<Verb>([
  'status',
  'events',
  'follow',
  'explain',
  'simulate',
  'reads',
  ...relayVerbs,
]);

/** Calls that go on until their caller leaves. */
export const streamVerbs: ReadonlySet<Verb> = new Set<Verb>(['follow', 'capture', 'sync-follow']);

const verbs = Object.keys(calls) as [Verb, ...Verb[]];

export const requestSchema = z.strictObject({
  id: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  verb: z.enum(verbs),
  arguments: z.unknown().optional(),
  /** How long the caller will wait, ms; streams have no end but the connection's. */
  deadlineMs: z.int().min(1).max(600_000).default(10_000),
});

export type ControlCode =
  | 'BAD_REQUEST'
  | 'NOT_ALLOWED'
  | 'NOT_FOUND'
  | 'DEADLINE'
  | 'BUSY'
  | 'UNAVAILABLE'
  | 'INTERNAL_FAULT';

export type ControlReply =
  | { readonly id: number; readonly status: 'ok'; readonly value: unknown }
  /** `code` is a ControlCode or one of the registry's codes; `detail` is for people. */
  | { readonly id: number; readonly status: 'refused'; readonly code: string; readonly detail: string };

/** A refusal that a handler gives by throwing; anything else thrown is INTERNAL_FAULT. */
export class ControlRefusal extends Error {
  readonly code: string;

  constructor(code: ControlCode | (string & {}), detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.code = code;
  }
}
