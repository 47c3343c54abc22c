/** Acts from afar. Each is signed, bound to one gateway and one nonce in the door process's memory, and lives for seconds. */
import * as z from 'zod';
import { idSchema } from '../identifier.ts';
import { gatewayId, nonceSchema, wallSchema } from './statement.ts';

/** On the door process's monotonic clock, from the moment it issued the nonce. */
export const commandLifetimeMsMax = 60_000;

const door = idSchema<'door'>();
export const actSchema = z.discriminatedUnion('act', [
  z.strictObject({ act: z.literal('release'), door, ms: z.int().min(200).max(600_000).optional() }),
  z.strictObject({ act: z.literal('secure'), door }),
  /** `*`: every door of the gateway. */
  z.strictObject({
    act: z.literal('mode'),
    door: z.union([door, z.literal('*')]),
    mode: z.enum(['controlled', 'free', 'lockdown']),
  }),
  /** Until then the next unknown card at the reader is sent, sealed, for the enrolment window of that id. */
  z.strictObject({
    act: z.literal('read-card'),
    reader: idSchema<'reader'>(),
    window: idSchema<'window'>(),
    seconds: z.int().min(10).max(300),
  }),
  /** Asks the gateway to poll and report at once. */
  z.strictObject({ act: z.literal('refresh') }),
]);
export type RemoteAct = z.infer<typeof actSchema>;
export type CardWindowAct = Extract<RemoteAct, { act: 'read-card' }>;

export const commandStatement = z.strictObject({
  gateway: gatewayId,
  /** Also the request id under which everything that follows is journalled; never executed twice. */
  id: idSchema<'request'>(),
  nonce: nonceSchema,
  lifetimeMs: z.int().min(1_000).max(commandLifetimeMsMax),
  /** Who asked, as it is shown in history. */
  actor: z.string().min(1).max(120),
  issuedAt: wallSchema,
  what: actSchema,
});
export type RemoteCommand = z.infer<typeof commandStatement>;
