/** Which facility a command means: the one that is named, or the only one there is. */

import { type Call, textFlag, UsageError } from '#shared/command-line/command.ts';
import type { Claims } from '../database/tenant-transaction.ts';
import type { OpenedDatabase } from '../open-database.ts';

/** @throws UsageError where it has to be named. */
export async function facilityOf(call: Call, { pools }: OpenedDatabase): Promise<string> {
  const named = textFlag(call, 'facility');
  const all = await pools.worker.selectFrom('facility').select(['id']).orderBy('id').limit(1_000).execute();
  const [only] = all;
  if (named === undefined && only !== undefined && all.length === 1) return only.id;
  const found = all.find(({ id }) => id === named);
  if (found) return found.id;
  const known = all.map(({ id }) => id).join(', ');
  throw new UsageError(
    `--facility must name one of: ${known || 'none yet (kannuki-cloud create-owner)'}`,
    known === '' ? '施設がまだありません(kannuki-cloud create-owner)' : `--facility で施設を指定してください: ${known}`,
  );
}

/** Whoever sits at the machine may do there what an owner may. */
export const consoleClaims = (facility: string): Claims => ({
  actor: 'console',
  facilityIds: [facility],
  roles: { [facility]: 'owner' },
});
