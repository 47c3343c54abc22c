/**
 * Gives the groups that wait in one gateway's queue their places, and brings its mirror there, in one transaction.
 *
 * Guarantees: places are given under the gateway's lock, whole groups in the order of their ids; the mirror, the sums and
 * the places commit together.
 */
import { sql } from 'kysely';
import { prepared } from '#cloud/database/prepared.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { invariant } from '#shared/invariant.ts';
import { bucketOf, credentialOf, doorOf, numberedChange, type StoredChange } from './feed-draft.ts';
import { headDigest, readFeedHead, type StoredHead, writeFeedHead } from './feed-head.ts';
import { tryLockGateway } from './feed-lock.ts';
import { fillMirror } from './fill-mirror.ts';
import { type CommittedGroup, type MirrorRow, mirrorKey, type Numbering, numberFeed } from './number-feed.ts';
import type { QueueOwner } from './queue-owner.ts';

/** As many in one transaction, so that none lasts long; a single group may be larger. */
const changesAtOnce = 2_000;

export type Numbered = 'idle' | 'busy' | 'numbered';

interface OpenGroup {
  readonly id: number;
  readonly is_fill: boolean;
  readonly change_count: number;
}

/** @returns `busy` where somebody else numbers this gateway at the moment. */
export async function numberQueue(transaction: TenantTransaction, owner: QueueOwner): Promise<Numbered> {
  if (!(await tryLockGateway(transaction, owner.gatewayId, 'feed'))) return 'busy';
  const open = await readOpen(transaction, owner);
  const [first] = open;
  if (first === undefined) return 'idle';
  const head = await readFeedHead(transaction, owner.facilityId, owner.gatewayId);
  if (first.is_fill) await numberFill(transaction, owner, { head, groupId: first.id });
  else await numberGroups(transaction, owner, { head, groups: fitting(open) });
  return 'numbered';
}

async function readOpen(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
): Promise<readonly OpenGroup[]> {
  const found = await sql<OpenGroup>`${prepared}select id, is_fill, change_count from feed_group
    where facility_id = ${facilityId} and gateway_id = ${gatewayId} and last_seq is null
    order by id limit 200`.execute(transaction);
  return found.rows;
}

function fitting(open: readonly OpenGroup[]): readonly OpenGroup[] {
  const taken: OpenGroup[] = [];
  let changes = 0;
  for (const group of open) {
    changes += group.change_count;
    if (group.is_fill || (taken.length > 0 && changes > changesAtOnce)) break;
    taken.push(group);
  }
  return taken;
}

async function numberFill(
  transaction: TenantTransaction,
  owner: QueueOwner,
  { head, groupId }: { readonly head: StoredHead; readonly groupId: number },
): Promise<void> {
  const seq = head.seq + 1;
  const sums = await fillMirror(transaction, owner, seq);
  // The rows come by snapshot: nobody can follow through this place.
  await writeFeedHead(transaction, owner.facilityId, owner.gatewayId, { seq, retainedFrom: seq, sums });
  await placeGroups(transaction, owner, [{ id: groupId, first: seq, last: seq, digest: headDigest(sums) }]);
}

interface QueuedChange extends StoredChange {
  readonly group_id: number;
  readonly place: number;
}

async function numberGroups(
  transaction: TenantTransaction,
  owner: QueueOwner,
  { head, groups }: { readonly head: StoredHead; readonly groups: readonly OpenGroup[] },
): Promise<void> {
  const ids = groups.map(({ id }) => id);
  const queued = await readChanges(transaction, owner.facilityId, ids);
  const mirror = await readMirror(transaction, owner, queued);
  const committed: CommittedGroup[] = ids.map((id) => ({ id: BigInt(id), changes: [] }));
  const changesOf = new Map(committed.map((group) => [Number(group.id), group.changes as unknown[]]));
  for (const [index, change] of queued.entries()) {
    changesOf.get(change.group_id)?.push(numberedChange(change, head.seq + 1 + index));
  }
  const numbering = numberFeed({ seq: head.seq, sums: head.sums }, committed, mirror);
  invariant(numbering.changes.length === queued.length, 'every queued change gets a place');
  await writeMirror(transaction, owner, { numbering, queued });
  await writeFeedHead(transaction, owner.facilityId, owner.gatewayId, {
    ...numbering.head,
    retainedFrom: head.retainedFrom,
  });
  await placeGroups(transaction, owner, placesOf(numbering.ends, head.seq));
}

function placesOf(ends: Numbering['ends'], after: number): readonly GroupPlace[] {
  return ends.map(({ group, seq, digest }, index) => {
    return { id: Number(group), first: (ends[index - 1]?.seq ?? after) + 1, last: seq, digest };
  });
}

async function readChanges(
  transaction: TenantTransaction,
  facilityId: string,
  groups: readonly number[],
): Promise<readonly QueuedChange[]> {
  const found = await sql<QueuedChange>`${prepared}select group_id, place, op, kind, key, row from feed_change
    where facility_id = ${facilityId} and group_id = any (${groups}::bigint[])
    order by group_id, place`.execute(transaction);
  return found.rows;
}

async function readMirror(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  changes: readonly StoredChange[],
): Promise<ReadonlyMap<string, MirrorRow>> {
  const names = JSON.stringify(changes.map(({ kind, key }) => ({ kind, key })));
  const found = await sql<{ kind: StoredChange['kind']; key: string; seq: number; hash: Buffer }>`${prepared}
    select r.kind, r.key, r.seq, r.hash
    from jsonb_to_recordset(${names}::jsonb) as given(kind text, key text)
    join feed_row r on r.facility_id = ${facilityId} and r.gateway_id = ${gatewayId}
      and r.kind = given.kind and r.key = given.key
    where r.row is not null`.execute(transaction);
  return new Map(
    found.rows.map(({ kind, key, seq, hash }) => [mirrorKey(kind, key), { version: seq, hash: hash.toString('hex') }]),
  );
}

async function writeMirror(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { numbering, queued }: { readonly numbering: Numbering; readonly queued: readonly QueuedChange[] },
): Promise<void> {
  const last = new Map(
    numbering.changes.map((numbered, index) => [mirrorKey(numbered.kind, numbered.key), { numbered, index }]),
  );
  const rows = [...last].flatMap(([name, { numbered, index }]) => {
    const stored = queued[index];
    if (stored === undefined) return [];
    const hash = numbering.mirror.get(name)?.hash ?? '';
    const { kind, key } = stored;
    const { group_id, place } = stored;
    const concerns = { credential_id: credentialOf(stored), door_id: doorOf(stored) };
    return [{ kind, key, seq: numbered.seq, bucket: bucketOf(stored), hash, group_id, place, ...concerns }];
  });
  await sql`${prepared}insert into feed_row (facility_id, gateway_id, kind, key, seq, bucket, hash, credential_id, door_id, row)
    select ${facilityId}, ${gatewayId}, g.kind, g.key, g.seq, g.bucket, decode(g.hash, 'hex'), g.credential_id, g.door_id,
      c.row
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g(kind text, key text, seq bigint, bucket int, hash text,
      group_id bigint, place int, credential_id text, door_id text)
    join feed_change c on c.facility_id = ${facilityId} and c.group_id = g.group_id and c.place = g.place
    on conflict (facility_id, gateway_id, kind, key) do update set seq = excluded.seq, bucket = excluded.bucket,
      hash = excluded.hash, row = excluded.row, numbered_at = now(),
      door_id = coalesce(excluded.door_id, feed_row.door_id)`.execute(transaction);
}

interface GroupPlace {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly digest: string;
}

async function placeGroups(
  transaction: TenantTransaction,
  { facilityId }: QueueOwner,
  places: readonly GroupPlace[],
): Promise<void> {
  await sql`${prepared}update feed_group f set first_seq = g.first, last_seq = g.last, end_digest = g.digest,
      numbered_at = now()
    from jsonb_to_recordset(${JSON.stringify(places)}::jsonb) as g(id bigint, first bigint, last bigint, digest text)
    where f.facility_id = ${facilityId} and f.id = g.id`.execute(transaction);
}
