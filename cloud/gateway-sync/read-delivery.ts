/**
 * What is known at which door of a credential: said but not there yet, in force since when, or out of reach since when.
 *
 * `effective_at_door` rests on the door process's own signed word, on nothing else. A credential counts where it is granted,
 * or was until the door has taken it in that it no longer is.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';

/** A gateway that was not heard of for so long is out of reach. */
const unreachableMs = 90_000;

export interface Delivery {
  readonly credential: string;
  readonly door: string;
  /** `null` while no gateway works the door. */
  readonly gateway: string | null;
  readonly state: 'pending_at_door' | 'effective_at_door' | 'unreachable';
  /** Since when it is so: the change was said, is effective, or, out of reach, was said. */
  readonly since: Date;
  /** When the gateway was heard of last. */
  readonly lastSeenAt: Date | null;
}

interface DeliveryRow {
  readonly credential: string;
  readonly door: string;
  readonly gateway: string | null;
  readonly queued_at: Date | null;
  readonly numbered_at: Date | null;
  readonly effective_at: Date | null;
  readonly last_seen_at: Date | null;
  readonly is_seen: boolean;
  readonly now: Date;
}

/** By credential, then door. */
export async function readDelivery(
  transaction: TenantTransaction,
  facilityId: string,
  credentialIds: readonly string[],
): Promise<readonly Delivery[]> {
  if (credentialIds.length === 0) return [];
  const found =
    await sql<DeliveryRow>`select * from app.credential_delivery(${facilityId}, ${[...credentialIds]}::text[],
    ${unreachableMs} * interval '1 millisecond')`.execute(transaction);
  return found.rows.map(deliveryOf);
}

function deliveryOf(row: DeliveryRow): Delivery {
  const { credential, door, gateway, last_seen_at: lastSeenAt } = row;
  const base = { credential, door, gateway, lastSeenAt };
  if (row.queued_at === null && row.effective_at !== null) {
    return { ...base, state: 'effective_at_door', since: row.effective_at };
  }
  const since = row.queued_at ?? row.numbered_at ?? row.now;
  const isPending = gateway === null || row.is_seen;
  return { ...base, state: isPending ? 'pending_at_door' : 'unreachable', since };
}
