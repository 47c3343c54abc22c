/** Takes a grant away. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { holderOf } from './credential-verb.ts';
import { hideRow } from './delete-thing.ts';
import { lockHolders } from './lock-rows.ts';
import { publish } from './publish.ts';
import type { Place } from './thing.ts';
import type { Written } from './written.ts';

interface GrantRow {
  readonly credential_id: string;
  readonly version: number;
}

export function deleteGrant(transaction: TenantTransaction, place: Place, version: number): Promise<Written> {
  return asVerb(transaction, 'grant.delete', undefined, async (): Promise<Written> => {
    const { facility, id } = place;
    const read = () =>
      sql<GrantRow>`select credential_id, version from credential_grant
        where facility_id = ${facility} and id = ${id}`.execute(transaction);
    const credential = (await read()).rows[0]?.credential_id;
    const holder = credential === undefined ? undefined : await holderOf(transaction, facility, credential);
    if (credential === undefined || holder === undefined) return { status: 'absent' };
    await lockHolders(transaction, facility, [holder]);
    // Whoever writes grants holds the holder's lock: what is read now stays.
    const [row] = (await read()).rows;
    if (!row) return { status: 'absent' };
    if (row.version !== version) return { status: 'stale' };
    await hideRow(transaction, 'credential_grant', place);
    await audit(transaction, facility, { action: 'grant.deleted', entityId: id, detail: { credential } });
    await publish(transaction, facility, { holders: [holder] });
    return { status: 'written', id };
  });
}
