/** Where gateways stand, as the cloud knows it: one look at the beginning of each of their calls. */
import { sql } from 'kysely';
import { prepared } from '#cloud/database/prepared.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { invariant } from '#shared/invariant.ts';
import { type HeadRow, headOf, type StoredHead } from './feed-head.ts';
import type { GatewayStatus } from './gateway-machine.ts';
import type { QueueOwner } from './queue-owner.ts';

export interface Acked {
  readonly epoch: number;
  readonly cursor: number;
  readonly digest: string;
  readonly isSame: boolean;
}

export interface GatewayStand {
  readonly status: GatewayStatus;
  readonly head: StoredHead;
  /** The door process's last signed word; `undefined` before the first. */
  readonly acked: Acked | undefined;
  /** As it declared them last. */
  readonly kinds: string;
  /** ms since it was heard of, `undefined` if never. */
  readonly unseenMs: number | undefined;
  /** Whether a command may wait for it: without one nobody need look. */
  readonly isOrdered: boolean;
}

interface StandRow extends HeadRow {
  readonly gateway_id: string;
  readonly is_numbered: boolean;
  readonly is_ordered: boolean;
  readonly status: GatewayStatus;
  readonly epoch: number | null;
  readonly cursor_seq: number;
  readonly digest: string;
  readonly is_same: boolean;
  readonly kinds: string | null;
  readonly unseen_ms: number | null;
}

export async function readStand(transaction: TenantTransaction, owner: QueueOwner): Promise<GatewayStand> {
  const [stand] = await readStands(transaction, [owner]);
  invariant(stand, 'one for each owner');
  return stand;
}

/** @returns in the order of the owners. */
export async function readStands(
  transaction: TenantTransaction,
  owners: readonly QueueOwner[],
): Promise<readonly GatewayStand[]> {
  const found =
    await sql<StandRow>`${prepared}select g.id as gateway_id, g.status, a.epoch, a.cursor_seq, a.digest, a.is_same,
      h.kinds, f.head_seq, f.retained_from, f.sums, f.head_seq is not null as is_numbered,
      exists (select from gateway_command c where c.facility_id = g.facility_id and c.gateway_id = g.id
        and c.status in ('queued', 'delivered')) as is_ordered,
      (extract(epoch from now() - h.last_seen_at) * 1000)::float8 as unseen_ms
    from ${asked(owners)}
    join gateway g on g.facility_id = asked.facility_id and g.id = asked.gateway_id
    left join feed_ack a on a.facility_id = g.facility_id and a.gateway_id = g.id
    left join feed_head f on f.facility_id = g.facility_id and f.gateway_id = g.id
    left join gateway_health h on h.facility_id = g.facility_id and h.gateway_id = g.id`.execute(transaction);
  const rows = new Map(found.rows.map((row) => [row.gateway_id, row]));
  return owners.map(({ gatewayId }) => standOfRow(rows.get(gatewayId)));
}

const asked = (owners: readonly QueueOwner[]) => sql`unnest(${owners.map(({ facilityId }) => facilityId)}::text[],
  ${owners.map(({ gatewayId }) => gatewayId)}::text[]) as asked (facility_id, gateway_id)`;

function standOfRow(row: StandRow | undefined): GatewayStand {
  invariant(row, 'a gateway that was admitted is there');
  const { epoch, cursor_seq: cursor, digest, is_same: isSame } = row;
  return {
    status: row.status,
    head: headOf(row.is_numbered ? row : undefined),
    acked: epoch === null ? undefined : { epoch, cursor, digest, isSame },
    kinds: row.kinds ?? '',
    unseenMs: row.unseen_ms ?? undefined,
    isOrdered: row.is_ordered,
  };
}

/** Written no more often than people can tell the difference. */
const notedEveryMs = 10_000;

/** Of those that were seen before. A row that somebody else holds is passed over: they write the same. */
export async function noteSeen(
  transaction: TenantTransaction,
  owners: readonly QueueOwner[],
  stands: readonly GatewayStand[],
): Promise<void> {
  const stale = owners.filter((_, place) => (stands[place]?.unseenMs ?? 0) >= notedEveryMs);
  if (stale.length === 0) return;
  // Nobody waits for a disk to say that somebody was seen.
  await sql`${prepared}with unhurried as materialized (select set_config('synchronous_commit', 'off', true)),
      free as materialized (select h.facility_id, h.gateway_id from ${asked(stale)}
        join gateway_health h on h.facility_id = asked.facility_id and h.gateway_id = asked.gateway_id
        for no key update of h skip locked)
    update gateway_health h set last_seen_at = now() from unhurried, free
    where h.facility_id = free.facility_id and h.gateway_id = free.gateway_id`.execute(transaction);
}

/** What it declares, of which every later ack is judged; it declares it again with every poll. */
export async function noteKinds(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  kinds: string,
): Promise<void> {
  await sql`${prepared}with unhurried as materialized (select set_config('synchronous_commit', 'off', true))
    insert into gateway_health (facility_id, gateway_id, kinds)
    select ${facilityId}, ${gatewayId}, ${kinds} from unhurried
    on conflict (facility_id, gateway_id) do update set last_seen_at = now(), kinds = excluded.kinds`.execute(
    transaction,
  );
}
