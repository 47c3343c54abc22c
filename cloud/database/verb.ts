/**
 * Runs a verb of a machine on one row: authorize, lock, reduce, update with the next version, then its effects, all in
 * the caller's transaction.
 *
 * Guarantees: nothing is written unless the transition is applied; a row that moved on since the caller saw it is a
 * conflict with what it is now; a row that is not there and one of another tenant look the same.
 * Not promised: that an `applied` outcome is durable; the caller's commit is.
 */
import { sql } from 'kysely';
import type { Code } from '#shared/code.ts';
import { type Machine, step } from '#shared/machine.ts';
import { type Outcome, refused } from '#shared/outcome.ts';
import { prepared } from './prepared.ts';
import { setLocal, type TenantTransaction } from './tenant-transaction.ts';

/** A table under a machine: every one has these columns. */
interface MachineRow {
  readonly facility_id: string;
  readonly id: string;
  readonly version: number;
}

type Holds<Condition extends string> = { readonly [Name in Condition]: boolean };

export interface Verb<Row extends MachineRow, State extends string, Event extends string, Condition extends string> {
  /** The verb's name in logs, e.g. `credential.revoke`. */
  readonly name: string;
  readonly machine: Machine<State, Event, Condition>;
  readonly event: Event;
  /** The machine's table, and its state column where that is not `status`. */
  readonly table: string;
  readonly stateColumn?: string;
  readonly facilityId: string;
  readonly id: string;
  /** The version the caller saw; absent where it acts on whatever is there. */
  readonly expectedVersion?: number;
  /** Why, for the log; the transaction's own reason where absent. */
  readonly reason?: string;
  /** The code that refuses an absent row. */
  readonly absent: Code;
  /** Looks at the locked row: a code refuses. What a role may do is decided before; this is about the row. */
  readonly authorize?: (row: Row) => Code | null | Promise<Code | null>;
  /** Which of the machine's conditions hold for the locked row. */
  readonly conditions: (row: Row) => Holds<Condition> | Promise<Holds<Condition>>;
  /** Columns to write with the transition. */
  readonly columns?: (row: Row, change: Change<State>) => Readonly<Record<string, unknown>>;
  /** Outbox rows, other verbs, audit: in the same transaction, after the update. */
  readonly effects?: (row: Row, change: Change<State>) => Promise<void>;
}

export interface Change<State extends string> {
  readonly from: State;
  readonly to: State;
  /** The version after the update. */
  readonly version: number;
  /** What else the transition writes, by the machine's declaration. */
  readonly sets: Readonly<Record<string, string | null>>;
}

export async function runVerb<
  Row extends MachineRow,
  State extends string,
  Event extends string,
  Condition extends string,
>(transaction: TenantTransaction, verb: Verb<Row, State, Event, Condition>): Promise<Outcome<State>> {
  return asVerb(transaction, verb.name, verb.reason, async () => {
    const row = await lockRow<Row>(transaction, verb);
    if (!row) return refused(verb.absent);
    const refusal = await verb.authorize?.(row);
    if (refusal) return refused(refusal);
    const from = Reflect.get(row, verb.stateColumn ?? 'status') as State;
    if (verb.expectedVersion !== undefined && verb.expectedVersion !== row.version)
      return { status: 'conflict', code: verb.machine.conflict, current: from };
    const answer = step(verb.machine, from, verb.event, await verb.conditions(row));
    if (answer.status !== 'applied') return answer;
    const change: Change<State> = { from, to: answer.to, version: row.version + 1, sets: answer.sets };
    await writeRow(transaction, verb, row, change);
    await verb.effects?.(row, change);
    return { status: 'applied', to: answer.to };
  });
}

/**
 * Runs `work` as a verb: what it writes is logged and audited under this name. Verbs may run inside verbs; afterwards the
 * outer one's name stands again.
 */
export async function asVerb<Result>(
  transaction: TenantTransaction,
  name: string,
  reason: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = await sql<Record<'verb' | 'event' | 'reason', string | null>>`select
    current_setting('app.verb', true) as verb, current_setting('app.event', true) as event,
    current_setting('app.reason', true) as reason`.execute(transaction);
  const { verb, event, reason: outerReason } = before.rows[0] ?? { verb: null, event: null, reason: null };
  await setLocal(transaction, { 'app.verb': name, 'app.event': '', 'app.reason': reason ?? outerReason ?? '' });
  const result = await work();
  // On a throw the transaction is over, and its settings with it.
  await setLocal(transaction, { 'app.verb': verb ?? '', 'app.event': event ?? '', 'app.reason': outerReason ?? '' });
  return result;
}

export interface AuditEvent {
  readonly action: string;
  readonly entityId: string;
  /** Holds no personal data. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Writes one audit event of the running verb; the chain is sealed at commit. */
export async function audit(transaction: TenantTransaction, facilityId: string, event: AuditEvent): Promise<void> {
  await auditAll(transaction, facilityId, [event]);
}

/** Writes audit events of the running verb in their order, by one statement. */
export async function auditAll(
  transaction: TenantTransaction,
  facilityId: string,
  events: readonly AuditEvent[],
): Promise<void> {
  const rows = events.map(({ action, entityId, detail = {} }) => ({ action, entity: entityId, detail }));
  await sql`${prepared}select app.audit(${facilityId}, given.action, given.entity, given.detail)
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given(action text, entity text, detail jsonb)`.execute(
    transaction,
  );
}

async function lockRow<Row>(
  transaction: TenantTransaction,
  verb: { readonly table: string; readonly facilityId: string; readonly id: string },
): Promise<Row | undefined> {
  const found = await sql<Row>`select * from ${sql.table(verb.table)}
    where facility_id = ${verb.facilityId} and id = ${verb.id} for update`.execute(transaction);
  return found.rows[0];
}

async function writeRow<Row extends MachineRow, State extends string, Event extends string, Condition extends string>(
  transaction: TenantTransaction,
  verb: Verb<Row, State, Event, Condition>,
  row: Row,
  change: Change<State>,
): Promise<void> {
  await setLocal(transaction, { 'app.event': verb.event });
  const columns = {
    ...verb.columns?.(row, change),
    [verb.stateColumn ?? 'status']: change.to,
    version: change.version,
  };
  const assignments = Object.entries(columns).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
  const written = await sql`update ${sql.table(verb.table)} set ${sql.join(assignments)}
    where facility_id = ${verb.facilityId} and id = ${verb.id} and version = ${row.version}`.execute(transaction);
  if (written.numAffectedRows !== 1n) throw new Error(`invariant broken: ${verb.name} updates the row it locked`);
}
