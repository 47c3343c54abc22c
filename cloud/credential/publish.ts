/**
 * Tells the gateways what a verb changed: derives the rows of what it touched, and says those that are other than the
 * facility's last word on them.
 *
 * Call it in the verb's transaction, after its rows are written and while they are locked. What is said twice is said once.
 * Removals come before puts, so that a card is free before its next owner's row takes it.
 * Guarantee: afterwards the facility's last word on everything touched is what `deriveFeedRows` gives.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { emitFeed } from '#cloud/gateway-sync/emit-feed.ts';
import { type FeedDraft, storedChange } from '#cloud/gateway-sync/feed-draft.ts';
import { type CanonicalValue, canonicalText } from '#shared/canonical.ts';
import { invariant } from '#shared/invariant.ts';
import { type RowKind, rowKinds } from '#shared/replica-digest.ts';
import { deriveFeedRows } from './derive-feed-rows.ts';
import { readSaid } from './read-said.ts';
import type { Touched } from './touched.ts';

/** So many holders are read and derived at once. */
const holdersPerPart = 1_000;

/** @returns how many rows differed. */
export async function publish(transaction: TenantTransaction, facilityId: string, touched: Touched): Promise<number> {
  const { holders = [], ...small } = touched;
  let differing = await publishPart(transaction, facilityId, { ...small, holders: holders.slice(0, holdersPerPart) });
  for (let from = holdersPerPart; from < holders.length; from += holdersPerPart) {
    const part = { holders: holders.slice(from, from + holdersPerPart) };
    differing += await publishPart(transaction, facilityId, part);
  }
  return differing;
}

async function publishPart(transaction: TenantTransaction, facilityId: string, touched: Touched): Promise<number> {
  const said = await readSaid(transaction, facilityId, touched);
  const credentials = said.credentials.map(({ id }) => id as string);
  const known = await readKnown(transaction, facilityId, { ...touched, credentials });
  const wanted = deriveFeedRows(said).filter(isTouched(touched));
  const kept = new Set<string>();
  const puts = wanted.filter((draft) => {
    const { kind, key, row } = storedChange(draft);
    kept.add(`${kind} ${key}`);
    return known.get(`${kind} ${key}`)?.text !== canonicalText(row as CanonicalValue);
  });
  const removals = [...known].filter(([place]) => !kept.has(place)).map(([, { kind, key }]) => removalOf(kind, key));
  const order = (draft: FeedDraft): number => rowKinds.indexOf(draft.kind);
  removals.sort((one, other) => order(other) - order(one));
  await emitFeed(transaction, facilityId, [...removals, ...puts]);
  return removals.length + puts.length;
}

/** Doors and readers are also read for the sake of what hangs on them; only those that were touched are said. */
const isTouched = (touched: Touched) => (draft: FeedDraft & { readonly op: 'put' }) =>
  (draft.kind !== 'door' || (touched.doors?.includes(draft.row.id) ?? false)) &&
  (draft.kind !== 'reader' || (touched.readers?.includes(draft.row.id) ?? false));

function removalOf(kind: RowKind, key: string): FeedDraft {
  if (kind === 'grant') {
    const [credential = '', door = '', grant = ''] = key.split(' ');
    return { op: 'remove', kind, credential, door, grant };
  }
  invariant(kind !== 'facility', 'a facility is never taken out of its own feed');
  return { op: 'remove', kind, id: key };
}

interface Known {
  readonly kind: RowKind;
  readonly key: string;
  readonly text: string;
}

/** The facility's last word on all that was touched, by `kind key`. */
async function readKnown(
  transaction: TenantTransaction,
  facilityId: string,
  touched: Touched & { readonly credentials: readonly string[] },
): Promise<ReadonlyMap<string, Known>> {
  const { schedules = [], holidays = [], doors = [], readers = [], holders = [], credentials } = touched;
  const small = [
    ...(touched.facility ? [{ kind: 'facility', key: facilityId }] : []),
    ...schedules.map((key) => ({ kind: 'schedule', key })),
    ...holidays.map((key) => ({ kind: 'holiday', key })),
    ...doors.map((key) => ({ kind: 'door', key })),
    ...readers.map((key) => ({ kind: 'reader', key })),
    ...holders.map((key) => ({ kind: 'holder', key })),
    ...credentials.map((key) => ({ kind: 'credential', key })),
  ];
  const found = await sql<{ kind: RowKind; key: string; row: CanonicalValue }>`
    select s.kind, s.key, s.row from feed_source s
    join jsonb_to_recordset(${JSON.stringify(small)}::jsonb) as given(kind text, key text)
      on s.kind = given.kind and s.key = given.key
    where s.facility_id = ${facilityId}
    union all
    select s.kind, s.key, s.row from feed_source s
    where s.facility_id = ${facilityId} and s.kind = 'grant' and s.row ->> 'credential' = any (${credentials})`.execute(
    transaction,
  );
  return new Map(
    found.rows.map(({ kind, key, row }) => [`${kind} ${key}`, { kind, key, text: canonicalText(row) }] as const),
  );
}
