/**
 * The statements of journal.db, prepared once. SQL and nothing else: no rule lives here.
 */

import type { ChainedEntry } from '#shared/journal-chain.ts';
import type { SignedHead } from '#shared/signed-head.ts';
import type { Statement, Store } from '../store/open-database.ts';
import { prepareReader, type Reader, type Shape } from '../store/prepare-reader.ts';
import type { PlacedTrace } from './interrupted.ts';

/** An entry as stored. */
export interface EntryRow extends ChainedEntry {
  readonly hash: Uint8Array;
}
export interface PrivateRow {
  readonly place: number;
  readonly salt: Uint8Array;
  readonly value: string;
}
export interface StateRow {
  readonly kind: string;
  readonly key: string;
  readonly value: string;
  readonly code: Uint8Array;
}
export interface SealRow {
  readonly tip: number;
  readonly tipHash: Uint8Array;
  readonly stateSum: Uint8Array;
  readonly code: Uint8Array;
}
export interface ExtentRow {
  readonly firstEpoch: number;
  readonly firstKey: Uint8Array;
  readonly keyPrint: Uint8Array;
  readonly boundary: number;
  readonly boundaryHash: Uint8Array;
  readonly acked: number;
}
export interface HeadKeyRow {
  readonly publicKey: Uint8Array;
  readonly sealed: Uint8Array;
}

const entryShape: Shape<EntryRow> = {
  place: 'integer',
  bootId: 'text',
  at: 'integer',
  clockState: 'text',
  kind: 'text',
  door: 'text or null',
  requestId: 'text or null',
  body: 'text',
  personalHash: 'blob or null',
  prevHash: 'blob',
  hash: 'blob',
};
const traceShape: Shape<PlacedTrace> = {
  place: 'integer',
  kind: 'text',
  door: 'text or null',
  requestId: 'text or null',
};
const privateShape: Shape<PrivateRow> = { place: 'integer', salt: 'blob', value: 'text' };
const stateShape: Shape<StateRow> = { kind: 'text', key: 'text', value: 'text', code: 'blob' };
const sealShape: Shape<SealRow> = { tip: 'integer', tipHash: 'blob', stateSum: 'blob', code: 'blob' };
const extentShape: Shape<ExtentRow> = {
  firstEpoch: 'integer',
  firstKey: 'blob',
  keyPrint: 'blob',
  boundary: 'integer',
  boundaryHash: 'blob',
  acked: 'integer',
};
const headShape: Shape<SignedHead> = {
  place: 'integer',
  at: 'integer',
  hash: 'blob',
  nextKey: 'blob',
  signature: 'blob',
};
const headKeyShape: Shape<HeadKeyRow> = { publicKey: 'blob', sealed: 'blob' };

const entryColumns = `place, boot_id AS bootId, at, clock_state AS clockState, kind, door_id AS door,
  request_id AS requestId, body, personal_hash AS personalHash, prev_hash AS prevHash, hash`;
const headColumns = 'place, at, hash, next_key AS nextKey, signature';

export interface JournalTables {
  readonly insertEntry: Statement<[EntryRow]>;
  readonly entriesAfter: Reader<[after: number, limit: number], EntryRow>;
  readonly entriesBefore: Reader<[before: number, limit: number], EntryRow>;
  readonly traceBefore: Reader<[before: number, limit: number], PlacedTrace>;
  readonly entryAt: Reader<[place: number], EntryRow>;
  readonly firstPlaceAfter: Statement<[after: number], number>;
  readonly placeAfterSome: Statement<[after: number, count: number], number>;
  readonly lastPlace: Statement<[], number>;
  readonly deleteEntries: Statement<[first: number, last: number]>;
  readonly insertPrivate: Statement<[PrivateRow]>;
  readonly privateAt: Reader<[place: number], PrivateRow>;
  readonly allPrivate: Reader<[], PrivateRow>;
  readonly deletePrivate: Statement<[first: number, last: number]>;
  readonly putState: Statement<[StateRow]>;
  readonly deleteState: Statement<[kind: string, key: string]>;
  readonly stateCode: Statement<[kind: string, key: string], Uint8Array>;
  readonly allState: Reader<[], StateRow>;
  readonly putSeal: Statement<[SealRow]>;
  readonly seal: Reader<[], SealRow>;
  readonly insertExtent: Statement<[ExtentRow]>;
  readonly moveExtent: Statement<[boundary: number, boundaryHash: Uint8Array, acked: number]>;
  readonly extent: Reader<[], ExtentRow>;
  readonly insertHead: Statement<[SignedHead]>;
  readonly headAtOrBefore: Reader<[place: number], SignedHead>;
  readonly headBefore: Reader<[place: number, at: number], SignedHead>;
  readonly headsAfter: Reader<[after: number, limit: number], SignedHead>;
  readonly putHeadKey: Statement<[HeadKeyRow]>;
  readonly headKey: Reader<[], HeadKeyRow>;
}

export function prepareTables(store: Store): JournalTables {
  return { ...entryStatements(store), ...stateStatements(store), ...headStatements(store) };
}

const entryStatements = (store: Store) => ({
  insertEntry: store.prepare<[EntryRow]>(
    `INSERT INTO entry VALUES (@place, @bootId, @at, @clockState, @kind, @door, @requestId, @body, @personalHash,
      @prevHash, @hash)`,
  ),
  entriesAfter: prepareReader<[number, number], EntryRow>(
    store,
    entryShape,
    `SELECT ${entryColumns} FROM entry WHERE place > ? ORDER BY place LIMIT ?`,
  ),
  entriesBefore: prepareReader<[number, number], EntryRow>(
    store,
    entryShape,
    `SELECT ${entryColumns} FROM entry WHERE place <= ? ORDER BY place DESC LIMIT ?`,
  ),
  traceBefore: prepareReader<[number, number], PlacedTrace>(
    store,
    traceShape,
    `SELECT place, kind, door_id AS door, request_id AS requestId FROM entry WHERE place <= ? ORDER BY place DESC LIMIT ?`,
  ),
  entryAt: prepareReader<[number], EntryRow>(store, entryShape, `SELECT ${entryColumns} FROM entry WHERE place = ?`),
  firstPlaceAfter: store
    .prepare<[number], number>('SELECT place FROM entry WHERE place > ? ORDER BY place LIMIT 1')
    .pluck(),
  placeAfterSome: store
    .prepare<[number, number], number>('SELECT place FROM entry WHERE place > ? ORDER BY place LIMIT 1 OFFSET ?')
    .pluck(),
  lastPlace: store.prepare<[], number>('SELECT place FROM entry ORDER BY place DESC LIMIT 1').pluck(),
  deleteEntries: store.prepare<[number, number]>('DELETE FROM entry WHERE place BETWEEN ? AND ?'),
  insertPrivate: store.prepare<[PrivateRow]>('INSERT INTO entry_private VALUES (@place, @salt, @value)'),
  privateAt: prepareReader<[number], PrivateRow>(
    store,
    privateShape,
    'SELECT place, salt, value FROM entry_private WHERE place = ?',
  ),
  allPrivate: prepareReader<[], PrivateRow>(
    store,
    privateShape,
    'SELECT place, salt, value FROM entry_private ORDER BY place',
  ),
  deletePrivate: store.prepare<[number, number]>('DELETE FROM entry_private WHERE place BETWEEN ? AND ?'),
});

const stateStatements = (store: Store) => ({
  putState: store.prepare<[StateRow]>(
    `INSERT INTO gateway_state VALUES (@kind, @key, @value, @code)
      ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value, code = excluded.code`,
  ),
  deleteState: store.prepare<[string, string]>('DELETE FROM gateway_state WHERE kind = ? AND key = ?'),
  stateCode: store
    .prepare<[string, string], Uint8Array>('SELECT code FROM gateway_state WHERE kind = ? AND key = ?')
    .pluck(),
  allState: prepareReader<[], StateRow>(
    store,
    stateShape,
    'SELECT kind, key, value, code FROM gateway_state ORDER BY kind, key',
  ),
  putSeal: store.prepare<[SealRow]>(
    `INSERT INTO journal_seal VALUES (1, @tip, @tipHash, @stateSum, @code) ON CONFLICT (id) DO UPDATE
      SET tip = excluded.tip, tip_hash = excluded.tip_hash, state_sum = excluded.state_sum, code = excluded.code`,
  ),
  seal: prepareReader<[], SealRow>(
    store,
    sealShape,
    'SELECT tip, tip_hash AS tipHash, state_sum AS stateSum, code FROM journal_seal WHERE id = 1',
  ),
  insertExtent: store.prepare<[ExtentRow]>(
    'INSERT INTO extent VALUES (1, @firstEpoch, @firstKey, @keyPrint, @boundary, @boundaryHash, @acked)',
  ),
  moveExtent: store.prepare<[number, Uint8Array, number]>(
    'UPDATE extent SET boundary = ?, boundary_hash = ?, acked = ? WHERE id = 1',
  ),
  extent: prepareReader<[], ExtentRow>(
    store,
    extentShape,
    `SELECT first_epoch AS firstEpoch, first_key AS firstKey, key_print AS keyPrint, boundary,
      boundary_hash AS boundaryHash, acked FROM extent WHERE id = 1`,
  ),
});

const headStatements = (store: Store) => ({
  insertHead: store.prepare<[SignedHead]>('INSERT INTO head VALUES (@place, @at, @hash, @nextKey, @signature)'),
  headAtOrBefore: prepareReader<[number], SignedHead>(
    store,
    headShape,
    `SELECT ${headColumns} FROM head WHERE place <= ? ORDER BY place DESC LIMIT 1`,
  ),
  headBefore: prepareReader<[number, number], SignedHead>(
    store,
    headShape,
    `SELECT ${headColumns} FROM head WHERE place <= ? AND at < ? ORDER BY place DESC LIMIT 1`,
  ),
  headsAfter: prepareReader<[number, number], SignedHead>(
    store,
    headShape,
    `SELECT ${headColumns} FROM head WHERE place > ? ORDER BY place LIMIT ?`,
  ),
  putHeadKey: store.prepare<[HeadKeyRow]>(
    `INSERT INTO head_key VALUES (1, @publicKey, @sealed)
      ON CONFLICT (id) DO UPDATE SET public_key = excluded.public_key, sealed = excluded.sealed`,
  ),
  headKey: prepareReader<[], HeadKeyRow>(
    store,
    headKeyShape,
    'SELECT public_key AS publicKey, sealed FROM head_key WHERE id = 1',
  ),
});
