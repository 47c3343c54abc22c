/** Whether the key file is the one under which the facilities' keys were sealed. */
import type { Database } from '#cloud/database/pool.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { lookupKeyName } from './create-facility.ts';
import type { Sealer } from './sealed-value.ts';

interface Pools {
  readonly app: Database;
  readonly worker: Database;
}

/** Opens the newest facility's key. @returns how many facilities there are. @throws SealBroken. */
export async function checkSeals(pools: Pools, sealer: Sealer): Promise<number> {
  const facilities = await pools.worker.selectFrom('facility').select('id').orderBy('id').execute();
  const newest = facilities.at(-1)?.id;
  if (newest === undefined) return 0;
  const { lookup_key_sealed: sealed } = await tenantTransaction(
    pools.app,
    { actor: 'console', facilityIds: [newest] },
    (transaction) =>
      transaction.selectFrom('facility').select('lookup_key_sealed').where('id', '=', newest).executeTakeFirstOrThrow(),
  );
  sealer.open(lookupKeyName(newest), sealed);
  return facilities.length;
}
