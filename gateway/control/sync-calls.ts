/**
 * What edge relays: it asks the door process what to send, and hands it what came back.
 *
 * Nothing here carries authority. A statement is worth what its signature is worth; news is a hint about the way to the
 * cloud, which can at worst make the door process ask for more, or less.
 */
import * as z from 'zod';
import { cursorSchema, epochSchema } from '#shared/contract/sync/statement.ts';

/** Longest statement that is relayed, characters; the longest is a chunk of a snapshot. */
const statementMax = 700_000;
/** Not looked into here: who proves it also parses it. */
const jws = z.string().min(1).max(statementMax);

export const statementKinds = [
  'batch',
  'urgent',
  'repair',
  'chunk',
  'lease',
  'time',
  'command',
  'certificate',
  'journal-ack',
] as const;

const uplinkStates = [
  'starting',
  'online',
  'dns',
  'unreachable',
  'tls',
  'captive-portal',
  'clock-skewed',
  'unauthorized',
  'revoked',
  'conflict',
  'too-large',
  'busy',
  'cloud-fault',
  'malformed',
  'door-away',
] as const;

export const syncCalls = {
  /** What goes up with the next call of that name. */
  'sync-ask': z.strictObject({
    call: z.enum(['time', 'ack', 'snapshot', 'repair', 'feed', 'journal', 'read']),
    /** How many entries of history at most. */
    entries: z.int().min(1).max(500).default(500),
  }),
  'sync-deliver': z.strictObject({ statement: z.enum(statementKinds), jws }),
  /** What the cloud answered beside its statements, or how the way to it is. */
  'sync-told': z.union([
    z.strictObject({ ack: z.enum(['applied', 'noop', 'differs']), epoch: epochSchema, cursor: cursorSchema }),
    z.strictObject({
      feed: z.strictObject({
        head: cursorSchema,
        snapshotNeeded: z.boolean(),
        /** A poll brought neither changes nor contact: the cloud may not have heard the last ack. */
        isUnheard: z.boolean().optional(),
      }),
    }),
    z.strictObject({ repair: z.literal('same') }),
    z.strictObject({ snapshot: z.enum(['gone', 'needed']) }),
    z.strictObject({ read: z.string().max(64) }),
    z.strictObject({
      uplink: z.enum(uplinkStates),
      failures: z.int().min(0).max(1_000_000_000).default(0),
      detail: z.string().max(200).default(''),
    }),
  ]),
  /** Stream: `DoorNeeds`, whenever they change. */
  'sync-follow': z.strictObject({}),
  /** Who this gateway is, and where it stands. */
  enrolment: z.strictObject({}),
  'enrol-begin': z.strictObject({ code: z.string().max(80), edgeKey: z.string().length(43) }),
  'enrol-finish': z.strictObject({ enrolment: jws, root: z.string().length(43), certificate: jws }),
  unenrol: z.strictObject({}),
} as const;

/** What `edge.sock` may call of these. */
export const relayVerbs = ['sync-ask', 'sync-deliver', 'sync-told', 'sync-follow', 'enrolment'] as const;
