/**
 * What can go wrong with the database, by name.
 *
 * Every fault of the server or the way to it leaves this folder as one of these; a broken constraint, a wrong statement
 * or a refused right passes through untouched: it is a bug, or a refusal that its verb expects and reads by SQLSTATE.
 */
import type { FaultCode } from '#shared/code.ts';

export type DatabaseFaultCode = Extract<FaultCode, `DATABASE_${string}`>;

export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  readonly code: DatabaseFaultCode;

  constructor(code: DatabaseFaultCode, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.code = code;
  }
}

/** SQLSTATEs and errno codes, by their beginning; the first that fits. */
const meanings: readonly (readonly [prefix: string, code: DatabaseFaultCode])[] = [
  ['57014', 'DATABASE_BUSY'], // statement_timeout
  ['55P03', 'DATABASE_BUSY'], // lock_timeout
  ['25P03', 'DATABASE_BUSY'], // idle_in_transaction_session_timeout
  ['25P04', 'DATABASE_BUSY'], // transaction_timeout
  ['40001', 'DATABASE_BUSY'], // serialization failure
  ['40P01', 'DATABASE_BUSY'], // deadlock
  ['08', 'DATABASE_UNAVAILABLE'],
  ['57P', 'DATABASE_UNAVAILABLE'], // shutting down, crashed, cannot connect now
  ['53', 'DATABASE_UNAVAILABLE'], // out of connections, memory or disk
  ['58', 'DATABASE_UNAVAILABLE'], // the server's own disk failed
  ['28', 'DATABASE_UNAVAILABLE'], // our login is refused
  ['3D000', 'DATABASE_UNAVAILABLE'], // no such database
  ['25006', 'DATABASE_UNAVAILABLE'], // read-only: a standby
  ['ECONN', 'DATABASE_UNAVAILABLE'],
  ['ENOTFOUND', 'DATABASE_UNAVAILABLE'],
  ['EAI_AGAIN', 'DATABASE_UNAVAILABLE'],
  ['ETIMEDOUT', 'DATABASE_UNAVAILABLE'],
  ['EHOSTUNREACH', 'DATABASE_UNAVAILABLE'],
  ['ENETUNREACH', 'DATABASE_UNAVAILABLE'],
  ['EPIPE', 'DATABASE_UNAVAILABLE'],
];

/** What the driver says where it has no code. */
const driverWords =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed)/;

/** The fault an error stands for, or `undefined` if it is not one of the server but a bug or a refusal. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  if (error instanceof DatabaseFault) return error;
  if (error instanceof AggregateError) return databaseFault(error.errors[0]);
  if (!(error instanceof Error)) return undefined;
  const native = sqlState(error);
  const meaning = native === undefined ? undefined : meanings.find(([prefix]) => native.startsWith(prefix));
  if (meaning) return new DatabaseFault(meaning[1], `${error.message} (${native})`, { cause: error });
  return driverWords.test(error.message)
    ? new DatabaseFault('DATABASE_UNAVAILABLE', error.message, { cause: error })
    : undefined;
}

/** The SQLSTATE or errno an error carries, e.g. `23505` (unique), `KN011` (no such transition). */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return error.code;
}

/** Runs `work`; the server's faults come out typed. */
export async function withDatabaseFaults<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw databaseFault(error) ?? error;
  }
}
