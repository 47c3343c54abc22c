/** One at a time for each gateway: who numbers its feed, freezes its picture or takes its history. */
import { sql } from 'kysely';
import { prepared } from '#cloud/database/prepared.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';

/** What is serialized; they do not wait for each other. */
export type GatewayWork = 'feed' | 'ack' | 'journal' | 'snapshot';

/** Waits for its turn, held to the end of the transaction. */
export async function lockGateway(transaction: TenantTransaction, gatewayId: string, work: GatewayWork): Promise<void> {
  await sql`${prepared}select pg_advisory_xact_lock(hashtextextended(${`${work} ${gatewayId}`}, 0))`.execute(
    transaction,
  );
}

/** @returns false where somebody else is at it. */
export async function tryLockGateway(
  transaction: TenantTransaction,
  gatewayId: string,
  work: GatewayWork,
): Promise<boolean> {
  const taken = await sql<{ taken: boolean }>`${prepared}select
    pg_try_advisory_xact_lock(hashtextextended(${`${work} ${gatewayId}`}, 0)) as taken`.execute(transaction);
  return taken.rows[0]?.taken === true;
}
