/**
 * Keeps a card that was shown for enrolment, as it was sealed: whoever opened the window opens it.
 *
 * The read counts for the window it names and no longer than a day; the same read again is a read more, which says the same.
 */
import { sql } from 'kysely';
import type * as z from 'zod';
import { newId } from '#cloud/database/new-id.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { cardRead } from '#shared/contract/sync/enrolment.ts';
import { cardReadSecret } from '#shared/contract/sync/enrolment.ts';
import type { FeedKeys } from './feed-keys.ts';
import type { GatewayCaller } from './gateway-caller.ts';
import type { SyncParts } from './sync-parts.ts';

/** Of one window; a card held at the reader repeats itself. */
const readsMax = 16;

export async function takeCardRead(
  parts: SyncParts,
  caller: GatewayCaller,
  { window, reader, sealed }: z.output<typeof cardRead>,
): Promise<{ readonly status: 'applied' | 'noop' }> {
  const { facilityId, gatewayId } = caller;
  return await tenantTransaction(parts.database, caller.claims, async (transaction) => {
    const written = await sql`insert into card_read (facility_id, id, gateway_id, window_id, reader_id, sealed)
      select ${facilityId}, ${newId<'read'>('red')}, ${gatewayId}, ${window}, ${reader}, ${sealed}
      where (select count(*) from card_read where facility_id = ${facilityId} and window_id = ${window}) < ${readsMax}
        and not exists (select from card_read where facility_id = ${facilityId} and window_id = ${window}
          and sealed = ${sealed})`.execute(transaction);
    return { status: written.numAffectedRows === 1n ? 'applied' : 'noop' };
  });
}

export interface ShownCard {
  readonly reader: string;
  readonly gateway: string;
  /** As read, the first bit first: zeros and ones. */
  readonly bits: string;
  readonly at: Date;
}

const purpose = 'card read';

/** The cards shown for a window so far, oldest first; what cannot be opened is left out. For the room that opened it. */
export async function readShownCards(
  transaction: TenantTransaction,
  keys: Pick<FeedKeys, 'open'>,
  { facilityId, windowId }: { readonly facilityId: string; readonly windowId: string },
): Promise<readonly ShownCard[]> {
  const found = await sql<{ reader_id: string; gateway_id: string; sealed: string; received_at: Date }>`
    select reader_id, gateway_id, sealed, received_at from card_read
    where facility_id = ${facilityId} and window_id = ${windowId} order by id`.execute(transaction);
  return found.rows.flatMap(({ reader_id: reader, gateway_id: gateway, sealed, received_at: at }) => {
    const bits = bitsOf(keys.open(purpose, sealed));
    return bits === undefined ? [] : [{ reader, gateway, bits, at }];
  });
}

function bitsOf(opened: Uint8Array | undefined): string | undefined {
  if (opened === undefined) return undefined;
  try {
    return cardReadSecret.safeParse(JSON.parse(Buffer.from(opened).toString('utf8'))).data?.bits;
  } catch {
    return undefined;
  }
}
