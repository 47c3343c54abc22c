/** What an entry of a gateway's history changes in the cloud: the handler of the inbox for sources `gateway:…`. */
import { sql } from 'kysely';
import * as z from 'zod';
import { type InboxEvent, InboxRefusal } from '#cloud/database/inbox.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { runVerb } from '#cloud/database/verb.ts';
import { commandMachine } from './command-lifecycle.ts';
import { type EntryEffect, effectOf } from './process-entry.ts';
import type { QueueOwner } from './queue-owner.ts';
import { clearAlarm, raiseAlarm } from './raise-alarm.ts';

export const gatewaySourcePrefix = 'gateway:';

/** As `store-upload` puts it in. */
const payloadSchema = z.object({
  gatewayId: z.string(),
  door: z.string().nullable(),
  requestId: z.string().nullable(),
  body: z.string(),
});

/** @throws InboxRefusal for an event of another shape. */
export async function handleEntry(transaction: TenantTransaction, event: InboxEvent): Promise<void> {
  const parsed = payloadSchema.safeParse(event.payload);
  if (!parsed.success) throw new InboxRefusal(`${event.event_id} is no entry`);
  const { gatewayId, ...entry } = parsed.data;
  const owner = { facilityId: event.facility_id, gatewayId };
  const effect = effectOf({ type: event.type, ...entry });
  if (effect.kind === 'alarm' && !(await isNewest(transaction, owner, effect, event.event_id))) return;
  await takeEffect(transaction, owner, effect);
}

type AlarmEffect = Extract<EntryEffect, { kind: 'alarm' }>;

/** Events come in any order: only the newest word on an alarm counts. @param eventId `epoch.seq`. */
async function isNewest(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { code, subject }: AlarmEffect,
  eventId: string,
): Promise<boolean> {
  const [epoch, seq] = eventId.split('.');
  const written = await sql`insert into gateway_alarm_word as known (facility_id, gateway_id, code, subject, epoch, seq)
    values (${facilityId}, ${gatewayId}, ${code}, ${subject}, ${epoch}::int, ${seq}::bigint)
    on conflict (facility_id, gateway_id, code, subject) do update set epoch = excluded.epoch, seq = excluded.seq
      where (known.epoch, known.seq) < (excluded.epoch, excluded.seq)`.execute(transaction);
  return written.numAffectedRows === 1n;
}

async function takeEffect(transaction: TenantTransaction, owner: QueueOwner, effect: EntryEffect): Promise<void> {
  switch (effect.kind) {
    case 'command':
      await endCommand(transaction, owner, effect);
      break;
    case 'alarm': {
      const { code, subject, door: doorId } = effect;
      if (effect.is === 'raised') await raiseAlarm(transaction, owner, { code, subject, doorId });
      else await clearAlarm(transaction, owner, { code, subject });
      break;
    }
    case 'loss':
      await raiseAlarm(transaction, owner, { code: 'JOURNAL_MISSING' });
      break;
    case 'nothing':
      break;
  }
}

interface CommandRow {
  readonly facility_id: string;
  readonly id: string;
  readonly version: number;
  readonly gateway_id: string;
}

/** What is refused here was settled otherwise before; the first word on it stands. */
async function endCommand(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { id, event, code }: Extract<EntryEffect, { kind: 'command' }>,
): Promise<void> {
  await runVerb(transaction, {
    name: `command.${event}`,
    machine: commandMachine,
    event,
    table: 'gateway_command',
    facilityId,
    id,
    absent: 'NOT_FOUND',
    // A gateway speaks of its own commands only.
    authorize: (row: CommandRow) => (row.gateway_id === gatewayId ? null : 'NOT_FOUND'),
    conditions: () => ({ isTimeOver: true, isSilenceOver: true }),
    columns: () => ({ ended_at: sql`now()`, code }),
  });
}
