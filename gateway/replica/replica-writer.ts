/**
 * Writes rows into one replica file and keeps its sums and its head in step, inside the caller's transaction.
 *
 * Guarantees: a row is written with its code; an upsert that is not newer than what is there changes nothing; of two
 * credentials with one lookup value the newer stays (`#shared/feed-rule.ts`); a row that was changed outside the gateway is not built upon (`ReplicaTampered`).
 * Not promised: that references between rows hold; a grant to an unknown door opens nothing.
 */

import { takesLookupFrom } from '#shared/feed-rule.ts';
import { identifier } from '#shared/identifier.ts';
import { type Columns, type ColumnValue, rowText } from '#shared/replica-columns.ts';
import {
  addHash,
  digestOf,
  emptySums,
  plainRowHash,
  type RowKind,
  rowKinds,
  slotOf,
  subtractHash,
  sumHex,
} from '#shared/replica-digest.ts';
import type { Statement, Store } from '../store/open-database.ts';
import { bucketRange } from './bucket-check.ts';
import { readHead } from './read-head.ts';
import { headColumns, type ReplicaHead, rootText } from './replica-head.ts';
import {
  bucketOfColumns,
  columnsOfUpsert,
  keyColumns,
  keyOf,
  keyText,
  type RowChange,
  type RowKey,
  type RowUpsert,
} from './row-change.ts';
import type { RowCodes } from './row-mac.ts';
import { headSql, rowSql } from './row-sql.ts';
import type { PlacedRow } from './table-order.ts';

/** The file holds something that this gateway did not write, or not last. */
export class ReplicaTampered extends Error {
  override readonly name = 'ReplicaTampered';
  readonly code = 'ROW_TAMPERED';
}

interface KindStatements {
  readonly put: Statement;
  readonly find: Statement<unknown[], ColumnValue[]>;
  readonly remove: Statement;
}

interface StoredRow {
  readonly columns: Columns;
  readonly mac: string;
  readonly version: number;
}

interface Twin {
  readonly key: RowKey;
  readonly stored: StoredRow;
}

export class ReplicaWriter {
  readonly #store: Store;
  readonly #codes: RowCodes;
  readonly #statements: Readonly<Record<RowKind, KindStatements>>;
  readonly #sums = new Map<number, bigint>();
  readonly #digests: Record<RowKind, bigint>;
  readonly #touched = new Set<number>();
  readonly #ofLookup: Statement<unknown[], string>;
  #head: ReplicaHead | undefined;

  /**
   * The store must be migrated.
   * @throws ReplicaTampered where head and sums in the file do not belong together.
   */
  constructor(store: Store, codes: RowCodes) {
    this.#store = store;
    this.#codes = codes;
    const kinds = rowKinds.map((kind) => [kind, prepareKind(store, kind)] as const);
    this.#statements = Object.fromEntries(kinds) as Record<RowKind, KindStatements>;
    this.#digests = { ...emptySums };
    this.#ofLookup = store.prepare<unknown[], string>(headSql.ofLookup).pluck();
    this.reload();
  }

  get head(): ReplicaHead | undefined {
    return this.#head;
  }

  /** As of the last commit, once nothing is pending. */
  sumOf(slot: number): string {
    return sumHex(this.#sums.get(slot) ?? 0n);
  }

  /** Forgets what was not committed. */
  reload(): void {
    this.#touched.clear();
    this.#sums.clear();
    const read = readHead(this.#store, this.#codes);
    if (read.kind === 'tampered') throw new ReplicaTampered(read.what);
    this.#head = read.kind === 'found' ? read.head : undefined;
    if (read.kind === 'found') for (const [slot, sum] of read.sums) this.#sums.set(slot, BigInt(`0x${sum}`));
    const digests = this.#store.prepare<[], [RowKind, string]>(headSql.digests).raw().all();
    for (const kind of rowKinds) this.#digests[kind] = 0n;
    for (const [kind, sum] of digests) this.#digests[kind] = BigInt(`0x${sum}`);
    if (this.#head !== undefined && digestOf(this.#digests) !== this.#head.digest)
      throw new ReplicaTampered('the digests are not those of the head');
  }

  /** @returns whether it changed anything. */
  apply(change: RowChange): boolean {
    const key = change.op === 'upsert' ? keyOf(change.upsert) : change.key;
    const stored = this.#find(key);
    if (change.op === 'remove') {
      if (stored === undefined || stored.version > (change.version ?? stored.version)) return false;
      this.#takeOut(key, stored);
      return true;
    }
    if (stored !== undefined && stored.version >= change.upsert.row.version) return false;
    const twin = this.#twinOf(change.upsert);
    if (twin !== undefined && !takesLookupFrom(twin.stored.version, change.upsert.row)) return false;
    this.#takeOutBoth(key, stored, twin);
    this.put(placed(change.upsert));
    return true;
  }

  /** Writes a row in the place of whatever stands in its way, whatever their versions. */
  replace(upsert: RowUpsert): void {
    const key = keyOf(upsert);
    this.#takeOutBoth(key, this.#find(key), this.#twinOf(upsert));
    this.put(placed(upsert));
  }

  /** Writes a row that is known not to be there. */
  put({ kind, columns }: PlacedRow): void {
    const text = rowText(kind, columns);
    const mac = this.#codes.mac(text);
    const bucket = bucketOfColumns(kind, columns);
    const isSpread = kind === 'holder' || kind === 'grant';
    this.#statements[kind].put.run(...(isSpread ? [bucket] : []), ...columns, mac);
    const slot = slotOf(kind, bucket);
    this.#sums.set(slot, addHash(this.#sums.get(slot) ?? 0n, this.#codes.element(mac)));
    this.#digests[kind] = addHash(this.#digests[kind], plainRowHash(text));
    this.#touched.add(slot);
  }

  /** Takes every row of a bucket out, whatever its version. @returns how many there were. */
  clearBucket(kind: RowKind, bucket: number): number {
    const rows = this.#store.prepare<unknown[], ColumnValue[]>(rowSql[kind].all).raw();
    const all = rows.all(...bucketRange(kind, bucket));
    for (const found of all) {
      const key = keyOfColumns(kind, found);
      const stored = this.#find(key);
      if (stored !== undefined) this.#takeOut(key, stored);
    }
    return all.length;
  }

  /** Writes the touched sums and the new head; the last act of a transaction. */
  writeHead({ epoch, cursor }: { readonly epoch: number; readonly cursor: number }): ReplicaHead {
    const writeSum = this.#store.prepare(headSql.writeSum);
    for (const slot of this.#touched) writeSum.run(slot, sumHex(this.#sums.get(slot) ?? 0n));
    this.#touched.clear();
    const writeDigest = this.#store.prepare(headSql.writeDigest);
    for (const kind of rowKinds) writeDigest.run(kind, sumHex(this.#digests[kind]));
    const sums = new Map([...this.#sums].map(([slot, sum]) => [slot, sumHex(sum)]));
    const change = (this.#head?.change ?? 0) + 1;
    const digest = digestOf(this.#digests);
    const head: ReplicaHead = { epoch, cursor, change, digest, root: this.#codes.root(rootText(sums)) };
    const columns = headColumns(head);
    this.#store.prepare(headSql.write).run(...columns, this.#codes.head(rowText('head', columns)));
    this.#head = head;
    return head;
  }

  #find(key: RowKey): StoredRow | undefined {
    const found = this.#statements[key.kind].find.get(...keyColumns(key));
    if (found === undefined) return undefined;
    const columns = found.slice(0, -1);
    const mac = String(found.at(-1));
    if (this.#codes.mac(rowText(key.kind, columns)) !== mac)
      throw new ReplicaTampered(`${key.kind} ${keyText(key)} was changed outside the gateway`);
    return { columns, mac, version: Number(columns.at(-1)) };
  }

  /** Another credential of the same lookup value. */
  #twinOf(upsert: RowUpsert): Twin | undefined {
    if (upsert.kind !== 'credential') return undefined;
    const id = this.#ofLookup.get(upsert.row.lookup);
    if (id === undefined || id === upsert.row.id) return undefined;
    const key: RowKey = { kind: 'credential', id: identifier(id) };
    const stored = this.#find(key);
    return stored && { key, stored };
  }

  #takeOutBoth(key: RowKey, stored: StoredRow | undefined, twin: Twin | undefined): void {
    if (stored !== undefined) this.#takeOut(key, stored);
    if (twin !== undefined) this.#takeOut(twin.key, twin.stored);
  }

  #takeOut(key: RowKey, stored: StoredRow): void {
    this.#statements[key.kind].remove.run(...keyColumns(key));
    const slot = slotOf(key.kind, bucketOfColumns(key.kind, stored.columns));
    this.#sums.set(slot, subtractHash(this.#sums.get(slot) ?? 0n, this.#codes.element(stored.mac)));
    this.#digests[key.kind] = subtractHash(this.#digests[key.kind], plainRowHash(rowText(key.kind, stored.columns)));
    this.#touched.add(slot);
  }
}

function prepareKind(store: Store, kind: RowKind): KindStatements {
  const { put, find, remove } = rowSql[kind];
  return {
    put: store.prepare(put),
    find: store.prepare<unknown[], ColumnValue[]>(find).raw(),
    remove: store.prepare(remove),
  };
}

const placed = (upsert: RowUpsert): PlacedRow => ({ kind: upsert.kind, columns: columnsOfUpsert(upsert) });

function keyOfColumns(kind: RowKind, columns: Columns): RowKey {
  const text = (index: number) => identifier<never>(String(columns[index]));
  if (kind === 'grant') return { kind, credential: text(0), door: text(1), grant: text(2) };
  return { kind, id: text(kind === 'credential' ? 1 : 0) };
}
