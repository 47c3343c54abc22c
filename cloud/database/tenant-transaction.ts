/**
 * One transaction in the name of somebody: the claims that every policy reads stand for this transaction only.
 *
 * Guarantees: claims are set by one statement before any other, and end with the transaction, so that a pooled
 * connection never carries them; all effects commit together, or none.
 * Not promised: a retry; a fault of the server surfaces as a DatabaseFault, and the caller decides.
 */
import { sql, type Transaction } from 'kysely';
import { withDatabaseFaults } from './database-fault.ts';
import type { DB } from './generated-types.ts';
import type { Database } from './pool.ts';
import { prepared } from './prepared.ts';

export type TenantTransaction = Transaction<DB>;

export interface Claims {
  /** Who acts, for logs: a user's id, `gateway:…`, `worker:…`. */
  readonly actor: string;
  readonly facilityIds: readonly string[];
  /** The caller's role in each facility; a facility without one gives no rights by role. */
  readonly roles?: Readonly<Record<string, string>>;
  readonly userId?: string;
  readonly organizationId?: string;
  readonly gatewayId?: string;
  /** Why, in the words of whoever acts. */
  readonly reason?: string;
  /** Deleted rows are seen as well: for soft-delete verbs and audit reads. */
  readonly includeDeleted?: boolean;
}

/**
 * @param isolation `repeatable read` for many statements over one picture; a conflict is then DATABASE_BUSY.
 * @throws DatabaseFault DATABASE_UNAVAILABLE, DATABASE_BUSY.
 */
export async function tenantTransaction<Result>(
  database: Database,
  claims: Claims,
  work: (transaction: TenantTransaction) => Promise<Result>,
  isolation: 'read committed' | 'repeatable read' = 'read committed',
): Promise<Result> {
  const begun = database.transaction();
  return withDatabaseFaults(() =>
    (isolation === 'read committed' ? begun : begun.setIsolationLevel(isolation)).execute(async (transaction) => {
      await setLocal(transaction, settingsOf(claims));
      return work(transaction);
    }),
  );
}

export type Settings = Readonly<Record<string, string>>;

function settingsOf(claims: Claims): Settings {
  return {
    'app.actor': claims.actor,
    ...facilitySetting(claims.facilityIds),
    'app.roles': JSON.stringify(claims.roles ?? {}),
    'app.user_id': claims.userId ?? '',
    'app.organization_id': claims.organizationId ?? '',
    'app.gateway_id': claims.gatewayId ?? '',
    'app.reason': claims.reason ?? '',
    'app.include_deleted': claims.includeDeleted ? 'on' : '',
    'app.verb': '',
    'app.event': '',
  };
}

/** For work on several facilities in turn within one transaction: those that are claimed from now on. */
export const facilitySetting = (facilityIds: readonly string[]): Settings => ({
  'app.facility_ids': arrayLiteral(facilityIds),
});

/** Sets transaction-local settings in one statement. */
export async function setLocal(transaction: TenantTransaction, settings: Settings): Promise<void> {
  const calls = Object.entries(settings).map(([name, value]) => sql`set_config(${name}, ${value}, true)`);
  await sql`${prepared}select ${sql.join(calls)}`.execute(transaction);
}

/** PostgreSQL's text form of a text array. */
function arrayLiteral(items: readonly string[]): string {
  return `{${items.map((item) => `"${item.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`).join(',')}}`;
}
