/**
 * Down: what the cloud wants a gateway to hold, as an ordered, gapless, signed list of changes, and the answer to it.
 */
import * as z from 'zod';
import { idSchema } from '../identifier.ts';
import {
  credentialRow,
  doorRow,
  facilityRow,
  grantRow,
  holderRow,
  holidayRow,
  readerRow,
  scheduleRow,
} from '../replica-row.ts';
import { cursorSchema, epochSchema, gatewayId, hashSchema, jwsSchema, nonceSchema, wallSchema } from './statement.ts';

/** As many as one batch may hold; a group of changes is never divided, so no group is larger. */
export const changesMax = 500;
export const batchBytesMax = 256 * 1024;
export const waitMsMax = 25_000;

const version = z.int().min(1);
const row = <Kind extends string, Schema extends z.ZodType>(kind: Kind, schema: Schema) =>
  z.strictObject({ op: z.literal('put'), kind: z.literal(kind), row: schema });

/** A whole row in the place of its older self, whatever that was. Applied only if its version is higher. */
const putSchema = z.discriminatedUnion('kind', [
  row('facility', facilityRow),
  row('schedule', scheduleRow),
  row('holiday', holidayRow),
  row('door', doorRow),
  row('reader', readerRow),
  row('holder', holderRow),
  row('credential', credentialRow),
  row('grant', grantRow),
]);

const removeSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    op: z.literal('remove'),
    kind: z.enum(['schedule', 'holiday', 'door', 'reader', 'holder', 'credential']),
    id: idSchema<string>(),
    version,
  }),
  z.strictObject({
    op: z.literal('remove'),
    kind: z.literal('grant'),
    credential: idSchema<'credential'>(),
    door: idSchema<'door'>(),
    grant: idSchema<'grant'>(),
    version,
  }),
]);

export const changeSchema = z.union([putSchema, removeSchema]);
export type FeedChange = z.infer<typeof changeSchema>;
export type FeedPut = z.infer<typeof putSchema>;
export type FeedKind = FeedPut['kind'];

/** The kinds, and the version of each kind's shape, that this build knows. A gateway names them in every poll. */
export const feedKinds = {
  facility: 1,
  schedule: 1,
  holiday: 1,
  door: 1,
  reader: 1,
  holder: 1,
  credential: 1,
  grant: 1,
} as const satisfies Record<FeedKind, number>;

/** Complete for the positions (from, to]; whole groups, in order. */
export const feedBatchStatement = z.strictObject({
  gateway: gatewayId,
  /** The snapshot on which the changes stand. */
  epoch: epochSchema,
  from: cursorSchema,
  to: cursorSchema,
  /** How far the feed reached when this was signed. */
  head: cursorSchema,
  changes: z.array(changeSchema).max(changesMax),
  /** Set when a change is of a kind this gateway does not know and must not miss; then `to` stops before it. */
  unsupported: z.string().max(64).optional(),
  issuedAt: wallSchema,
});
export type FeedBatch = z.infer<typeof feedBatchStatement>;

/** Revocations and suspensions up to `head`, for a gateway that is far behind; applied first, the cursor stays. */
export const urgentStatement = z.strictObject({
  gateway: gatewayId,
  epoch: epochSchema,
  head: cursorSchema,
  credentials: z.array(credentialRow).max(changesMax),
  issuedAt: wallSchema,
});

/** Contact: the answer to the door process's own nonce, given once its acked state is the head's. Renews leases. */
export const leaseStatement = z.strictObject({
  gateway: gatewayId,
  nonce: nonceSchema,
  epoch: epochSchema,
  head: cursorSchema,
  digest: hashSchema,
  issuedAt: wallSchema,
});
export type LeaseStatement = z.infer<typeof leaseStatement>;

/** Signed time for the door process's nonce; believed only if it came back within seconds. */
export const timeStatement = z.strictObject({ gateway: gatewayId.nullable(), nonce: nonceSchema, at: wallSchema });
export const timeReply = z.strictObject({ time: jwsSchema });

export const feedQuery = z.strictObject({
  after: z.coerce.number().pipe(cursorSchema),
  epoch: z.coerce.number().pipe(epochSchema),
  nonce: nonceSchema,
  /** `kind:version` of each known kind, separated by commas. */
  kinds: z.string().max(512),
  waitMs: z.coerce.number().pipe(z.int().min(0).max(waitMsMax)),
  /** Serial of the certificate the door process holds; without it the certificate comes with each reply. */
  certificate: z.coerce.number().pipe(z.int().min(0)).default(0),
});

/** Certificates only where the gateway's pinned one is not the newest. Empty parts are left out. */
export const feedReply = z.strictObject({
  batch: jwsSchema.optional(),
  urgent: jwsSchema.optional(),
  lease: jwsSchema.optional(),
  commands: z.array(jwsSchema).max(16).default([]),
  certificate: jwsSchema.optional(),
  /** The gateway's cursor cannot be served (older than retention, another epoch): take a snapshot. */
  snapshotNeeded: z.boolean().default(false),
  head: cursorSchema,
});

/** Signed by the door process once its readers use the state: "effective since". */
export const feedAckStatement = z.strictObject({
  gateway: gatewayId,
  epoch: epochSchema,
  cursor: cursorSchema,
  /** Over all kinds, as `digestOf` makes it. */
  digest: hashSchema,
  /**
   * The furthest place it ever applied, or looked ahead to by urgent rows; it takes no snapshot before that. Where it is not
   * the cursor, the digest is not that of the cursor.
   */
  floor: cursorSchema.optional(),
  /** Trusted wall time of the door process, or null where it does not know the time. */
  at: wallSchema.nullable(),
  /** Counts acks of one boot upwards, with `bootId`: an older ack never replaces a newer. */
  bootId: z.string().min(1).max(64),
  count: z.int().min(1),
  /** Echo of the poll's nonce: an answer to this ack may renew leases. */
  nonce: nonceSchema,
});
export type FeedAck = z.infer<typeof feedAckStatement>;

/** What edge adds, believed only as health, never as proof. */
export const healthSchema = z.strictObject({
  version: z.string().max(64),
  hardware: z.string().max(128),
  uptimeS: z.int().min(0),
  clock: z.enum(['trusted', 'holdover', 'untrusted']),
  journal: z.enum(['available', 'full', 'budget', 'failed', 'closed']),
  storage: z.enum(['ok', 'low', 'reserve-spent', 'full', 'failed']),
  doors: z
    .array(z.strictObject({ door: idSchema<'door'>(), state: z.string().max(32), mode: z.string().max(32) }))
    .max(64),
  devicesOffline: z.array(idSchema<'device'>()).max(256),
  alarms: z.array(z.string().max(64)).max(64),
});
export type GatewayHealth = z.infer<typeof healthSchema>;

export const feedAckRequest = z.strictObject({ ack: jwsSchema, health: healthSchema.optional() });
/** `differs`: the digest at that cursor is another than the cloud's; a repair should follow. */
export const feedAckReply = z.strictObject({
  status: z.enum(['applied', 'noop', 'differs']),
  lease: jwsSchema.optional(),
});

/** Drift heals: sums of all slots of one kind go up, only the rows of differing buckets come down. */
export const repairRequest = z.strictObject({
  epoch: epochSchema,
  cursor: cursorSchema,
  kind: z.enum(['facility', 'schedule', 'holiday', 'door', 'reader', 'holder', 'credential', 'grant']),
  /** Sum of each bucket that is not empty. */
  sums: z.record(z.string().regex(/^\d{1,4}$/), hashSchema),
});
/** The buckets named hold exactly these rows at `cursor`. More buckets may differ: asked again until none do. */
export const repairStatement = z.strictObject({
  gateway: gatewayId,
  epoch: epochSchema,
  cursor: cursorSchema,
  kind: repairRequest.shape.kind,
  buckets: z.array(z.int().min(0).max(1_023)).max(1_024),
  rows: z.array(putSchema).max(changesMax),
  issuedAt: wallSchema,
});
/** `snapshotNeeded`: what differs is more than a repair can carry. */
export const repairReply = z.strictObject({ repair: jwsSchema.optional(), snapshotNeeded: z.boolean().default(false) });

export const snapshotQuery = z.strictObject({
  index: z.coerce.number().pipe(z.int().min(0).max(100_000)),
  /** Of the snapshot that is being resumed; a new one begins without it. */
  snapshot: idSchema<'snapshot'>().optional(),
});
export const snapshotChunkStatement = z.strictObject({
  gateway: gatewayId,
  snapshot: idSchema<'snapshot'>(),
  /** Chunks count from 0. */
  index: z.int().min(0).max(100_000),
  isLast: z.boolean(),
  /** The feed's position that the whole snapshot shows. */
  cursor: cursorSchema,
  /** Over all rows of the snapshot, as `digestOf` makes it. */
  digest: hashSchema,
  rows: z.array(putSchema).max(2_000),
  /** In the first chunk: the key by which credentials are found, sealed to the door process. It takes force with the rows. */
  lookupKeySealed: z.string().max(512).optional(),
  issuedAt: wallSchema,
});
export type SnapshotChunk = z.infer<typeof snapshotChunkStatement>;
export const snapshotReply = z.strictObject({ chunk: jwsSchema, certificate: jwsSchema.optional() });
