/**
 * The commands that a poll's answer carries, each bound to the nonce of that poll.
 *
 * A command is offered again with every poll until its end is reported or its time is over; the door process takes up each
 * id once.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { runVerb } from '#cloud/database/verb.ts';
import { type CommandState, commandMachine, offeredMs } from './command-lifecycle.ts';
import type { GatewayCaller } from './gateway-caller.ts';

const commandsMax = 16;

interface OpenRow {
  readonly id: string;
  readonly act: object;
  readonly status: CommandState;
  readonly requested_by: string;
  /** By the database's clock, which counted it from the start. */
  readonly age_ms: number;
  readonly lifetime_ms: number;
}

/** @returns statements without gateway and time of issue. */
export async function offerCommands(
  transaction: TenantTransaction,
  caller: GatewayCaller,
  nonce: string,
  now: number,
): Promise<readonly object[]> {
  const found = await sql<OpenRow>`select id, act, status, requested_by, lifetime_ms,
      (extract(epoch from now() - requested_at) * 1000)::float8 as age_ms
    from gateway_command
    where facility_id = ${caller.facilityId} and gateway_id = ${caller.gatewayId} and status in ('queued', 'delivered')
      and requested_at > now() - interval '2 minutes'
    order by requested_at limit ${commandsMax}`.execute(transaction);
  const offered: object[] = [];
  for (const row of found.rows) {
    const command = { state: row.status, requestedAt: now - Math.round(row.age_ms), lifetimeMs: row.lifetime_ms };
    const lifetimeMs = offeredMs(command, caller.arrivedAt, now);
    if (lifetimeMs === undefined) continue;
    if (row.status === 'queued') await noteDelivered(transaction, caller, row.id);
    offered.push({ id: row.id, nonce, lifetimeMs, actor: row.requested_by, what: row.act });
  }
  return offered;
}

async function noteDelivered(transaction: TenantTransaction, caller: GatewayCaller, id: string): Promise<void> {
  await runVerb(transaction, {
    name: 'command.deliver',
    machine: commandMachine,
    event: 'deliver',
    table: 'gateway_command',
    facilityId: caller.facilityId,
    id,
    absent: 'NOT_FOUND',
    conditions: () => ({ isTimeOver: false, isSilenceOver: false }),
    columns: () => ({ delivered_at: sql`now()` }),
  });
}
