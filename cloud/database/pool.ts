/**
 * A bounded set of connections as one role, on which every wait has an end.
 *
 * Guarantees: a statement, a wait for a lock, an idle transaction and a wait for a free connection each end by their
 * deadline as a DatabaseFault; a connection that dies idle is replaced and never crashes the process.
 */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { discardSilent } from './discard-silent.ts';
import type { DB } from './generated-types.ts';

export type Database = Kysely<DB>;

export interface PoolOptions {
  /** The connection string of the role's own login. */
  readonly url: string;
  /** At most this many connections. */
  readonly size: number;
  /** What the server shows of us. */
  readonly name: string;
  /** How long one statement may run, ms. */
  readonly statementMs?: number;
}

// bigint: journal and feed sequences stay far below 2^53.
const int8 = 20;
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): unknown {
    if (oid === int8) return Number;
    return pg.types.getTypeParser(oid, format);
  },
};

/** Nothing is connected before the first use. Close it with `destroy()`. */
export function openPool({ url, size, name, statementMs = 10_000 }: PoolOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: size,
    application_name: name,
    types: types as unknown as pg.CustomTypesConfig,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    statement_timeout: statementMs,
    lock_timeout: 4_000,
    idle_in_transaction_session_timeout: 15_000,
    // The network may die without a word: the client's own deadline, past the server's.
    query_timeout: statementMs * 1.5,
    keepAlive: true,
    options: '-c search_path=public,\\ pg_temp -c timezone=UTC',
  });
  // A connection that dies in somebody's hands says so by its next statement; without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', () => undefined); // Of an idle connection; the pool has dropped it, the next use reports.
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool: discardSilent(pool) }) });
}
