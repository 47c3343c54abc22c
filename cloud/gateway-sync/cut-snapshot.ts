/**
 * Freezes what a gateway should hold now, and hands it out in signed pieces that can be fetched again.
 *
 * Guarantees: all pieces of one snapshot show one place of the feed; the sum over them is in each; a place is frozen
 * once. Not promised: that it is kept for ever: an hour, or until a newer one is begun.
 */
import { sql } from 'kysely';
import type * as z from 'zod';
import { newId } from '#cloud/database/new-id.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { RequestRefused } from '#cloud/http/problem.ts';
import type { Code } from '#shared/code.ts';
import type { snapshotQuery, snapshotReply } from '#shared/contract/sync/feed.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import type { Identifier } from '#shared/identifier.ts';
import { type RowKind, rowKinds } from '#shared/replica-digest.ts';
import { sealFor } from '#shared/sealed-box.ts';
import { signStatement } from '#shared/signed-statement.ts';
import { numberedChange, type StoredChange } from './feed-draft.ts';
import { headDigest } from './feed-head.ts';
import { tryLockGateway } from './feed-lock.ts';
import type { GatewayCaller } from './gateway-caller.ts';
import { knownKinds } from './known-kinds.ts';
import { createPacker, type Packer } from './pack-rows.ts';
import { type GatewayStand, readStand } from './read-stand.ts';
import { lookupKeyPurpose } from './sign-enrolment.ts';
import type { SyncParts } from './sync-parts.ts';

type Query = z.output<typeof snapshotQuery>;
export type SnapshotAnswer = z.input<typeof snapshotReply> | { readonly refused: Code };

interface Snapshot {
  readonly id: string;
  readonly cursor_seq: number;
  readonly digest: string;
  readonly chunk_count: number;
}

interface Piece {
  readonly snapshot: Snapshot;
  readonly rows: string;
  readonly lookupKey: Uint8Array | undefined;
}

export async function cutSnapshot(parts: SyncParts, caller: GatewayCaller, query: Query): Promise<SnapshotAnswer> {
  let piece = await readPiece(parts, caller, query);
  if (piece === undefined && query.snapshot === undefined && query.index === 0) {
    // By its id: the feed may have gone on meanwhile.
    piece = await readPiece(parts, caller, { index: 0, snapshot: await freezeOnce(parts, caller) });
  }
  if (piece === undefined) return { refused: 'SNAPSHOT_GONE' };
  return { chunk: await signPiece(parts, caller, query.index, piece), certificate: parts.keys().certificate };
}

function readPiece(parts: SyncParts, caller: GatewayCaller, query: Query): Promise<Piece | undefined> {
  return tenantTransaction(parts.database, caller.claims, async (transaction) => {
    const snapshot = await findSnapshot(transaction, caller, query);
    const rows = snapshot && (await readChunk(transaction, caller, { id: snapshot.id, index: query.index }));
    if (snapshot === undefined || rows === undefined) return undefined;
    const lookupKey = query.index === 0 ? await parts.lookupKeyOf(transaction, caller.facilityId) : undefined;
    return { snapshot, rows, lookupKey };
  });
}

/**
 * In one picture of the database, so that no lock keeps an urgent change from its place meanwhile.
 * @throws RequestRefused DATABASE_BUSY where another request is at it: it is asked again.
 */
async function freezeOnce(parts: SyncParts, caller: GatewayCaller): Promise<Identifier<'snapshot'>> {
  const frozen = await tenantTransaction(
    parts.database,
    caller.claims,
    async (transaction) => {
      if (!(await tryLockGateway(transaction, caller.gatewayId, 'snapshot'))) return undefined;
      return await freeze(transaction, caller);
    },
    'repeatable read',
  );
  if (frozen === undefined) throw new RequestRefused({ refused: 'DATABASE_BUSY' }, 1);
  return frozen;
}

function signPiece(
  parts: SyncParts,
  caller: GatewayCaller,
  index: number,
  { snapshot, rows, lookupKey }: Piece,
): Promise<string> {
  const statement = {
    gateway: caller.gatewayId,
    snapshot: snapshot.id,
    index,
    isLast: index === snapshot.chunk_count - 1,
    cursor: snapshot.cursor_seq,
    digest: snapshot.digest,
    rows: JSON.parse(rows),
    issuedAt: parts.now(),
    ...(lookupKey && { lookupKeySealed: sealFor(caller.doorSealKey, lookupKeyPurpose, lookupKey) }),
  };
  return signStatement(statementType.snapshotChunk, statement, parts.keys().signKey);
}

/** The one that is asked for; or, of one place and sum, what is newest and not old. */
async function findSnapshot(
  transaction: TenantTransaction,
  caller: GatewayCaller,
  { snapshot: id, index }: Query,
): Promise<Snapshot | undefined> {
  const { facilityId, gatewayId } = caller;
  const columns = sql`id, cursor_seq, digest, chunk_count`;
  const own = sql`facility_id = ${facilityId} and gateway_id = ${gatewayId}`;
  if (id !== undefined) {
    const found = await sql<Snapshot>`select ${columns} from feed_snapshot where ${own} and id = ${id}`.execute(
      transaction,
    );
    return found.rows[0];
  }
  if (index !== 0) return undefined;
  const { seq, digest } = pictureOf(await readStand(transaction, caller));
  const current = await sql<Snapshot>`select ${columns} from feed_snapshot where ${own} and cursor_seq = ${seq}
    and digest = ${digest} and created_at > now() - interval '10 minutes'
    order by created_at desc limit 1`.execute(transaction);
  return current.rows[0];
}

interface Picture {
  readonly seq: number;
  readonly digest: string;
  readonly kinds: ReadonlySet<string>;
}

function pictureOf({ head, kinds: declared }: GatewayStand): Picture {
  const kinds = declared === '' ? new Set<string>(rowKinds) : knownKinds(declared);
  return { seq: head.seq, digest: headDigest(head.sums, kinds), kinds };
}

async function freeze(transaction: TenantTransaction, caller: GatewayCaller): Promise<Identifier<'snapshot'>> {
  const { facilityId, gatewayId } = caller;
  const { seq, digest, kinds } = pictureOf(await readStand(transaction, caller));
  const old = sql`(select id from feed_snapshot where facility_id = ${facilityId} and gateway_id = ${gatewayId})`;
  await sql`delete from feed_snapshot_chunk where facility_id = ${facilityId} and snapshot_id in ${old}`.execute(
    transaction,
  );
  await sql`delete from feed_snapshot where facility_id = ${facilityId} and gateway_id = ${gatewayId}`.execute(
    transaction,
  );
  const id = newId<'snapshot'>('snp');
  await sql`insert into feed_snapshot (facility_id, id, gateway_id, cursor_seq, digest, chunk_count)
    values (${facilityId}, ${id}, ${gatewayId}, ${seq}, ${digest}, 0)`.execute(transaction);
  const packer = createPacker((place, rows) =>
    sql`insert into feed_snapshot_chunk (facility_id, snapshot_id, place, rows)
      values (${facilityId}, ${id}, ${place}, ${rows})`.execute(transaction),
  );
  for (const kind of rowKinds) {
    if (kinds.has(kind)) await packKind(transaction, { facilityId, gatewayId, kind }, packer);
  }
  const count = await packer.finish();
  await sql`update feed_snapshot set chunk_count = ${count}
    where facility_id = ${facilityId} and id = ${id}`.execute(transaction);
  return id;
}

/** Rows read at a time. */
const pageRows = 2_000;

async function packKind(
  transaction: TenantTransaction,
  { facilityId, gatewayId, kind }: { readonly facilityId: string; readonly gatewayId: string; readonly kind: RowKind },
  packer: Packer,
): Promise<void> {
  let after = '';
  for (;;) {
    const page = await sql<StoredChange & { seq: number }>`select 'put' as op, kind, key, row, seq from feed_row
      where facility_id = ${facilityId} and gateway_id = ${gatewayId} and kind = ${kind} and key > ${after}
        and row is not null
      order by key limit ${pageRows}`.execute(transaction);
    for (const { seq, ...stored } of page.rows) await packer.add(JSON.stringify(numberedChange(stored, seq)));
    const last = page.rows.at(-1);
    if (last === undefined || page.rows.length < pageRows) return;
    after = last.key;
  }
}

async function readChunk(
  transaction: TenantTransaction,
  { facilityId }: GatewayCaller,
  { id, index }: { readonly id: string; readonly index: number },
): Promise<string | undefined> {
  const found = await sql<{ rows: string }>`select rows from feed_snapshot_chunk
    where facility_id = ${facilityId} and snapshot_id = ${id} and place = ${index}`.execute(transaction);
  return found.rows[0]?.rows;
}
