/**
 * site.db, opened and found whole: every row carries its code and none is missing.
 *
 * Guarantees: a change is durable on return; a row changed, removed or added by anybody else is STORE_DAMAGED.
 * Not promised: noticing a whole older file put back. Synchronous, for the journal thread.
 */
import { identifier } from '#shared/identifier.ts';
import { unreachable } from '#shared/unreachable.ts';
import { migrate, readMigrations } from '../store/migrate.ts';
import { openDatabase, type Store } from '../store/open-database.ts';
import { deriveKey, emptySum, isSameCode, rowCode, toggleCode } from '../store/row-code.ts';
import { StoreFault, storeFault, withStoreFaults } from '../store/store-fault.ts';
import { judgeKeyPrint, keyPrint } from './sealed-keys.ts';
import type { SiteChange, SiteRows } from './site-rows.ts';
import {
  prepareSiteTables,
  type SiteTables,
  type StoredDevice,
  type StoredEpoch,
  type StoredKey,
} from './site-tables.ts';

export interface SiteFile {
  /** Made just now. */
  readonly isNew: boolean;
  rows(): SiteRows;
  /** Durable on return. @throws StoreFault */
  change(change: SiteChange): void;
  close(): void;
}

/** @param mode `create` makes a missing file. @throws StoreFault */
export function openSiteFile(path: string, masterKey: Uint8Array, mode: 'create' | 'existing'): SiteFile {
  const store = openDatabase({ path, mode, busyTimeoutMs: 1_000 });
  try {
    migrate(store, readMigrations('site'));
    return createSite(store, path, masterKey);
  } catch (error) {
    store.close();
    throw storeFault(error, path) ?? error;
  }
}

function createSite(store: Store, path: string, masterKey: Uint8Array): SiteFile {
  const tables = prepareSiteTables(store);
  const key = deriveKey(masterKey, 'site rows');
  let rowSum = verifiedSum(path, tables, key, masterKey);
  function seal(sum: Uint8Array): void {
    tables.putSeal.run({ keyPrint: keyPrint(masterKey), rowSum: sum, code: rowCode(key, 'site_seal', [hex(sum)]) });
  }
  const isNew = tables.seal.get() === undefined;
  if (isNew) withStoreFaults(path, () => seal(rowSum));
  return {
    isNew,
    rows: () => readRows(tables),
    change: (change) =>
      withStoreFaults(path, () => {
        const run = store.transaction(() => {
          const sum = applyChange(tables, key, change).reduce(toggleCode, rowSum);
          seal(sum);
          return sum;
        });
        rowSum = run.immediate();
      }),
    close: () => store.close(),
  };
}

function verifiedSum(path: string, tables: SiteTables, key: Uint8Array, masterKey: Uint8Array): Uint8Array {
  const damaged = (what: string): StoreFault => new StoreFault('STORE_DAMAGED', path, what);
  const seal = tables.seal.get();
  if (seal && judgeKeyPrint(masterKey, seal.keyPrint) === 'wrong-key') {
    throw new StoreFault('STORE_WRONG_KEY', path, 'it was written under another master key');
  }
  let sum = emptySum;
  for (const { code, expected } of allCodes(tables, key)) {
    if (!isSameCode(code, expected)) throw damaged('a row does not carry its code');
    sum = toggleCode(sum, code);
  }
  const sealed = seal?.rowSum ?? emptySum;
  if (!isSameCode(sum, sealed)) throw damaged('a row is missing or too many');
  const isOurs = !seal || isSameCode(seal.code, rowCode(key, 'site_seal', [hex(seal.rowSum)]));
  if (!isOurs) throw damaged('the seal does not fit');
  return sum;
}

function* allCodes(tables: SiteTables, key: Uint8Array): Generator<{ code: Uint8Array; expected: Uint8Array }> {
  for (const row of tables.keys.all()) yield { code: row.code, expected: codeOfKey(key, row) };
  for (const row of tables.devices.all()) yield { code: row.code, expected: codeOfDevice(key, row) };
  for (const row of tables.epochs.all()) yield { code: row.code, expected: codeOfEpoch(key, row) };
}

/** @returns the codes that left the sum or entered it. */
function applyChange(tables: SiteTables, key: Uint8Array, change: SiteChange): readonly Uint8Array[] {
  const { before, after } = writeChange(tables, key, change);
  return [before, after].flatMap((row) => (row ? [row.code] : []));
}

type Coded = { readonly code: Uint8Array };
type Replaced = { readonly before: Coded | undefined; readonly after: Coded | undefined };

function writeChange(tables: SiteTables, key: Uint8Array, change: SiteChange): Replaced {
  switch (change.kind) {
    case 'put-key': {
      const after = { ...change.row, code: codeOfKey(key, change.row) };
      const before = tables.key.get(after.name);
      tables.putKey.run(after);
      return { before, after };
    }
    case 'drop-key': {
      const before = tables.key.get(change.name);
      tables.dropKey.run(change.name);
      return { before, after: undefined };
    }
    case 'put-device': {
      const { id, identity, enrolledAt, refusesDefaultKey } = change.record;
      const { vendor, model, serial, firmware } = identity;
      const row = { id, vendor, model, serial, firmware, enrolledAt, refusesDefaultKey: Number(refusesDefaultKey) };
      const after = { ...row, code: codeOfDevice(key, row) };
      const before = tables.device.get(id);
      tables.putDevice.run(after);
      return { before, after };
    }
    case 'forget-device': {
      const before = tables.device.get(change.id);
      tables.dropDevice.run(change.id);
      return { before, after: undefined };
    }
    case 'put-epoch': {
      const after = { ...change.row, code: codeOfEpoch(key, change.row) };
      const before = tables.epoch.get(after.epoch);
      tables.putEpoch.run(after);
      return { before, after };
    }
    default:
      return unreachable(change);
  }
}

function readRows(tables: SiteTables): SiteRows {
  return {
    keys: tables.keys.all().map(({ name, sealed }) => ({ name, sealed })),
    devices: tables.devices.all().map((row) => ({
      id: identifier<'device'>(row.id),
      identity: { vendor: row.vendor, model: row.model, serial: row.serial, firmware: row.firmware },
      enrolledAt: row.enrolledAt,
      refusesDefaultKey: row.refusesDefaultKey === 1,
    })),
    epochs: tables.epochs.all().map(({ epoch, firstKey, begunAt }) => ({ epoch, firstKey, begunAt })),
  };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const codeOfKey = (key: Uint8Array, row: Omit<StoredKey, 'code'>): Uint8Array =>
  rowCode(key, 'sealed_key', [row.name, hex(row.sealed)]);
const codeOfDevice = (key: Uint8Array, row: Omit<StoredDevice, 'code'>): Uint8Array =>
  rowCode(key, 'device', [
    row.id,
    row.vendor,
    row.model,
    row.serial,
    row.firmware,
    row.enrolledAt,
    row.refusesDefaultKey,
  ]);
const codeOfEpoch = (key: Uint8Array, row: Omit<StoredEpoch, 'code'>): Uint8Array =>
  rowCode(key, 'journal_epoch', [row.epoch, hex(row.firstKey), row.begunAt]);
