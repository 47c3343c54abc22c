/** What time alone does in this room: commands that nobody answers, and what has been kept long enough. */
import { sql } from 'kysely';
import type { Database } from '#cloud/database/pool.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { runVerb } from '#cloud/database/verb.ts';
import { type CommandState, commandMachine, overdue } from './command-lifecycle.ts';

const actor = 'worker:sync';
const rowsAtOnce = 500;

interface OpenCommand {
  readonly facility_id: string;
  readonly id: string;
  readonly version: number;
  readonly status: CommandState;
  readonly age_ms: number;
  readonly lifetime_ms: number;
}

/** Ends commands whose time is over. @returns how many. @throws DatabaseFault. */
export async function sweepCommands(database: Database): Promise<number> {
  const open = await tenantTransaction(database, { actor, facilityIds: [] }, async (transaction) => {
    const found = await sql<OpenCommand>`select facility_id, id, version, status, lifetime_ms,
        (extract(epoch from now() - requested_at) * 1000)::float8 as age_ms
      from gateway_command where status in ('queued', 'delivered')
        and requested_at < now() - lifetime_ms * interval '1 millisecond'
      order by requested_at limit ${rowsAtOnce}`.execute(transaction);
    return found.rows;
  });
  let ended = 0;
  for (const row of open) if (await endCommand(database, row)) ended += 1;
  return ended;
}

async function endCommand(database: Database, row: OpenCommand): Promise<boolean> {
  const command = { state: row.status, requestedAt: 0, lifetimeMs: row.lifetime_ms };
  const event = overdue(command, row.age_ms);
  if (event === undefined) return false;
  const { facility_id: facilityId, id, version: expectedVersion } = row;
  const outcome = await tenantTransaction(database, { actor, facilityIds: [facilityId] }, (transaction) =>
    runVerb(transaction, {
      name: `command.${event}`,
      machine: commandMachine,
      event,
      table: 'gateway_command',
      facilityId,
      id,
      expectedVersion,
      absent: 'NOT_FOUND',
      conditions: () => ({ isTimeOver: true, isSilenceOver: true }),
      columns: () => ({ ended_at: sql`now()` }),
    }),
  );
  return outcome.status === 'applied';
}

/** Groups of a feed younger than this are kept; who is further behind takes a snapshot. */
const feedKeptDays = 7;
const tracesKeptDays = 30;
const facilitiesAtOnce = 200;

/** Lets go what is no longer needed, a bounded piece of each at a time. @throws DatabaseFault. */
export async function sweepFeed(database: Database): Promise<void> {
  for (const facilityId of await readFacilities(database)) {
    await tenantTransaction(database, { actor, facilityIds: [facilityId] }, async (transaction) => {
      await trimFeed(transaction, facilityId);
      await trimRest(transaction, facilityId);
    });
  }
}

/** Those that have gateways, a different part each time. */
async function readFacilities(database: Database): Promise<readonly string[]> {
  return tenantTransaction(database, { actor, facilityIds: [] }, async (transaction) => {
    const found = await sql<{ facility_id: string }>`select facility_id from
      (select distinct facility_id from gateway) g order by random() limit ${facilitiesAtOnce}`.execute(transaction);
    return found.rows.map(({ facility_id }) => facility_id);
  });
}

async function trimFeed(transaction: TenantTransaction, facilityId: string): Promise<void> {
  const old = sql`(select id from feed_group where facility_id = ${facilityId}
    and numbered_at < now() - make_interval(days => ${feedKeptDays}) order by id limit ${rowsAtOnce})`;
  // The bound moves first: nobody is served through what is about to go.
  await sql`update feed_head h set retained_from = greatest(h.retained_from, gone.last_seq)
    from (select gateway_id, max(last_seq) as last_seq from feed_group
      where facility_id = ${facilityId} and id in ${old} group by gateway_id) gone
    where h.facility_id = ${facilityId} and h.gateway_id = gone.gateway_id`.execute(transaction);
  await sql`delete from feed_change where facility_id = ${facilityId} and group_id in ${old}`.execute(transaction);
  await sql`delete from feed_group where facility_id = ${facilityId} and id in ${old}`.execute(transaction);
}

async function trimRest(transaction: TenantTransaction, facilityId: string): Promise<void> {
  await sql`delete from feed_row where facility_id = ${facilityId} and row is null
    and numbered_at < now() - make_interval(days => ${tracesKeptDays})
    and app.effective_at(facility_id, gateway_id, seq) is not null`.execute(transaction);
  // A step of the cursor tells something only while a row's place lies in it.
  await sql`delete from feed_effective e where facility_id = ${facilityId}
    and effective_at < now() - make_interval(days => ${feedKeptDays})
    and cursor_seq < (select max(l.cursor_seq) from feed_effective l
      where l.facility_id = e.facility_id and l.gateway_id = e.gateway_id)
    and not exists (select from feed_row r where r.facility_id = e.facility_id and r.gateway_id = e.gateway_id
      and r.seq > e.previous_seq and r.seq <= e.cursor_seq)`.execute(transaction);
  const snapshots = sql`(select id from feed_snapshot where facility_id = ${facilityId}
    and created_at < now() - interval '1 hour')`;
  await sql`delete from feed_snapshot_chunk where facility_id = ${facilityId} and snapshot_id in ${snapshots}`.execute(
    transaction,
  );
  await sql`delete from feed_snapshot where facility_id = ${facilityId}
    and created_at < now() - interval '1 hour'`.execute(transaction);
  await sql`delete from gateway_alarm where facility_id = ${facilityId}
    and cleared_at < now() - interval '90 days'`.execute(transaction);
  await sql`delete from enrolment_code where facility_id = ${facilityId}
    and expires_at < now() - interval '7 days'`.execute(transaction);
  await sql`delete from card_read where facility_id = ${facilityId}
    and received_at < now() - interval '1 day'`.execute(transaction);
  await trimJournal(transaction, facilityId);
}

/** The database lets the worker delete only what is older than it must be kept. */
async function trimJournal(transaction: TenantTransaction, facilityId: string): Promise<void> {
  for (const table of ['journal_entry', 'journal_personal', 'journal_signed_head']) {
    await sql`delete from ${sql.table(table)} where ctid in (select ctid from ${sql.table(table)}
      where facility_id = ${facilityId} and received_at < now() - interval '400 days' limit ${rowsAtOnce})`.execute(
      transaction,
    );
  }
}
