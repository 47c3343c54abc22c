/**
 * By which every verb tells the gateways: the facility's newest word on each row, and a group of changes in the queue of
 * each gateway that must hear it.
 *
 * Call it in the verb's own transaction, after its rows are written; changes in the order in which they must apply (a
 * removal that frees a card before the put that takes it). Versions are given later, with the place in each feed.
 * Guarantees: what commits is sent, what does not is not; two transactions that speak of one row are queued in the order in
 * which they commit; a gateway that comes later, or gets the door later, hears of it all the same.
 * Not promised: a number. The dispatcher gives it, in its own short transaction.
 */
import { sql } from 'kysely';
import { prepared } from '#cloud/database/prepared.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { changesMax } from '#shared/contract/sync/feed.ts';
import { doorOf, type FeedDraft, type StoredChange, storedChange } from './feed-draft.ts';

/** A group is never divided: it must fit into one signed batch with room to spare. */
const groupBytesMax = 200 * 1_024;

interface Placed extends StoredChange {
  readonly door_id: string | null;
}

/** @throws a unique violation (23505) where two credentials would have one lookup value. */
export async function emitFeed(
  transaction: TenantTransaction,
  facilityId: string,
  changes: readonly FeedDraft[],
): Promise<void> {
  if (changes.length === 0) return;
  await lockScope(transaction, facilityId, 'shared');
  const stored = changes.map(storedChange);
  const doorsBefore = await lockSources(transaction, facilityId, stored);
  await keepSources(transaction, facilityId, stored);
  const placed = stored.flatMap((change) => placedChanges(change, doorsBefore.get(nameOf(change)) ?? null));
  const gateways = await readGateways(transaction, facilityId, placed);
  for (const { id, doors: bound } of gateways) {
    const mine = placed.filter((change) => goesTo(change, bound));
    for (const group of groupsOf(mine)) await queueGroup(transaction, facilityId, id, group);
  }
}

/**
 * Which rows go to which gateway stands still while `shared` is held, and changes under `exclusive`.
 * Taken before any other lock of the feed.
 */
export async function lockScope(
  transaction: TenantTransaction,
  facilityId: string,
  mode: 'shared' | 'exclusive',
): Promise<void> {
  const take = mode === 'shared' ? sql`pg_advisory_xact_lock_shared` : sql`pg_advisory_xact_lock`;
  await sql`${prepared}select ${take}(hashtextextended(${`feed scope ${facilityId}`}, 0))`.execute(transaction);
}

/** Cuts changes into groups that fit into a batch each. */
export function groupsOf(changes: readonly StoredChange[]): readonly (readonly StoredChange[])[] {
  const groups: StoredChange[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const change of changes) {
    const size = sizeOf(change);
    if (bytes + size > groupBytesMax || (groups.at(-1)?.length ?? 0) >= changesMax) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(change);
    bytes += size;
  }
  return groups;
}

const sizeOf = (change: StoredChange): number => JSON.stringify(change).length + 32;

export async function queueGroup(
  transaction: TenantTransaction,
  facilityId: string,
  gatewayId: string,
  changes: readonly StoredChange[],
): Promise<void> {
  const bytes = changes.reduce((sum, change) => sum + sizeOf(change), 0);
  const rows = changes.map((change, place) => ({ place, ...change }));
  await sql`${prepared}with made as (
      insert into feed_group (facility_id, gateway_id, change_count, byte_count)
      values (${facilityId}, ${gatewayId}, ${changes.length}, ${bytes}) returning id)
    insert into feed_change (facility_id, group_id, place, gateway_id, op, kind, key, row)
    select ${facilityId}, made.id, given.place, ${gatewayId}, given.op, given.kind, given.key, nullif(given.row, 'null')
    from made, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as given(place int, op text, kind text, key text, row jsonb)`.execute(transaction);
}

const nameOf = ({ kind, key }: StoredChange): string => `${kind} ${key}`;

/** A reader that moved to another door is taken out where it was. */
function placedChanges(change: StoredChange, doorBefore: string | null): readonly Placed[] {
  const door_id = doorOf(change) ?? doorBefore;
  if (doorBefore === null || doorBefore === door_id) return [{ ...change, door_id }];
  return [
    { ...change, op: 'remove', row: null, door_id: doorBefore },
    { ...change, door_id },
  ];
}

/**
 * Rows are locked in one order, so that two bulk changes do not wait for each other.
 * @returns the door on which each row depended until now, by its name.
 */
async function lockSources(
  transaction: TenantTransaction,
  facilityId: string,
  changes: readonly StoredChange[],
): Promise<ReadonlyMap<string, string>> {
  const names = JSON.stringify(changes.map(({ kind, key }) => ({ kind, key })));
  const found = await sql<{
    name: string;
    door_id: string | null;
  }>`${prepared}select s.kind || ' ' || s.key as name, s.door_id
    from feed_source s
    where s.facility_id = ${facilityId} and (s.kind, s.key) in (
      select given.kind, given.key from jsonb_to_recordset(${names}::jsonb) as given(kind text, key text))
    order by s.kind, s.key for update`.execute(transaction);
  return new Map(found.rows.flatMap(({ name, door_id }) => (door_id === null ? [] : [[name, door_id] as const])));
}

/** Writes the facility's last word on each row. */
async function keepSources(
  transaction: TenantTransaction,
  facilityId: string,
  changes: readonly StoredChange[],
): Promise<void> {
  const last = [...new Map(changes.map((change) => [nameOf(change), change])).values()];
  const gone = last.filter(({ op }) => op === 'remove').map(({ kind, key }) => ({ kind, key }));
  const put = last.filter(({ op }) => op === 'put').map((change) => ({ ...change, door_id: doorOf(change) }));
  if (gone.length > 0) {
    await sql`${prepared}delete from feed_source s
      using jsonb_to_recordset(${JSON.stringify(gone)}::jsonb) as given(kind text, key text)
      where s.facility_id = ${facilityId} and s.kind = given.kind and s.key = given.key`.execute(transaction);
  }
  if (put.length === 0) return;
  await sql`${prepared}insert into feed_source (facility_id, kind, key, door_id, row)
    select ${facilityId}, given.kind, given.key, given.door_id, given.row
    from jsonb_to_recordset(${JSON.stringify(put)}::jsonb) as given(kind text, key text, door_id text, row jsonb)
    order by given.kind, given.key
    on conflict (facility_id, kind, key) do update set row = excluded.row, door_id = excluded.door_id`.execute(
    transaction,
  );
}

interface Receiver {
  readonly id: string;
  readonly doors: ReadonlySet<string>;
}

/** The gateways that are served, each with those of the changes' doors that are bound to it. */
async function readGateways(
  transaction: TenantTransaction,
  facilityId: string,
  changes: readonly Placed[],
): Promise<readonly Receiver[]> {
  const doors = [...new Set(changes.flatMap(({ door_id }) => (door_id === null ? [] : [door_id])))];
  const found = await sql<{ id: string; doors: string[] }>`${prepared}select g.id,
      array(select b.door_id from door_binding b where b.facility_id = g.facility_id and b.gateway_id = g.id
        and b.door_id = any (${doors}::text[])) as doors
    from gateway g where g.facility_id = ${facilityId} and g.status in ('active', 'quarantined')
    order by g.id`.execute(transaction);
  return found.rows.map(({ id, doors: bound }) => ({ id, doors: new Set(bound) }));
}

const goesTo = ({ kind, door_id }: Placed, bound: ReadonlySet<string>): boolean =>
  door_id === null ? !isDoorKind(kind) : bound.has(door_id);

const isDoorKind = (kind: string): boolean => kind === 'door' || kind === 'reader' || kind === 'grant';
