/**
 * Who the gateways are that call, and where they stand: read for many calls by one statement.
 *
 * Nothing is remembered from one call to the next, so that one that was put out is out with its next call. Each statement
 * runs under the claims of exactly those facilities whose gateways have proved themselves.
 */
import { sql } from 'kysely';
import { withDatabaseFaults } from '#cloud/database/database-fault.ts';
import type { Database } from '#cloud/database/pool.ts';
import { prepared } from '#cloud/database/prepared.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { GatewayStatus } from './gateway-machine.ts';
import { createGather } from './gather.ts';
import type { QueueOwner } from './queue-owner.ts';
import { type GatewayStand, noteSeen, readStands } from './read-stand.ts';

/** What is known of a gateway before it has proved that it is one. */
export interface GatewayEntry {
  readonly facility_id: string;
  readonly status: GatewayStatus;
  readonly edge_key: Buffer;
  readonly door_sign_key: Buffer;
  readonly door_seal_key: Buffer;
}

export interface Standing {
  /** @param gatewayId an identifier; nothing else may come here. @throws DatabaseFault. */
  readonly entryOf: (gatewayId: string) => Promise<GatewayEntry | undefined>;
  /** Of a gateway that was admitted; notes that it was seen. @throws DatabaseFault. */
  readonly standOf: (owner: QueueOwner) => Promise<GatewayStand>;
}

const limits = { most: 32, lanes: 4, everyMs: 20, waitingMax: 50_000 };

/** @param database as the gateway's role. */
export function createStanding(database: Database): Standing {
  return {
    entryOf: createGather((ids: readonly string[]) => readEntries(database, ids), limits),
    standOf: createGather((owners: readonly QueueOwner[]) => readAll(database, owners), limits),
  };
}

async function readEntries(database: Database, ids: readonly string[]): Promise<readonly (GatewayEntry | undefined)[]> {
  const found = await withDatabaseFaults(() =>
    sql<
      GatewayEntry & { readonly id: string }
    >`${prepared}select asked.id, e.facility_id, e.status, e.edge_key, e.door_sign_key,
        e.door_seal_key
      from unnest(${[...new Set(ids)]}::text[]) as asked (id) cross join lateral app.gateway_entry(asked.id) e`.execute(
      database,
    ),
  );
  const entries = new Map(found.rows.map((row) => [row.id, row]));
  return ids.map((id) => entries.get(id));
}

function readAll(database: Database, owners: readonly QueueOwner[]): Promise<readonly GatewayStand[]> {
  const facilityIds = [...new Set(owners.map(({ facilityId }) => facilityId))];
  return tenantTransaction(database, { actor: 'gateways', facilityIds }, async (transaction) => {
    const stands = await readStands(transaction, owners);
    await noteSeen(transaction, owners, stands);
    return stands;
  });
}
