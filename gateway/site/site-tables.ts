/**
 * The statements of site.db, prepared once. SQL and nothing else.
 */
import type { Statement, Store } from '../store/open-database.ts';
import { prepareReader, type Reader, type Shape } from '../store/prepare-reader.ts';

export interface SiteSealRow {
  readonly keyPrint: Uint8Array;
  readonly rowSum: Uint8Array;
  readonly code: Uint8Array;
}
export interface StoredKey {
  readonly name: string;
  readonly sealed: Uint8Array;
  readonly code: Uint8Array;
}
export interface StoredDevice {
  readonly id: string;
  readonly vendor: string;
  readonly model: string;
  readonly serial: string;
  readonly firmware: string;
  readonly enrolledAt: number;
  readonly refusesDefaultKey: number;
  readonly code: Uint8Array;
}
export interface StoredEpoch {
  readonly epoch: number;
  readonly firstKey: Uint8Array;
  readonly begunAt: number;
  readonly code: Uint8Array;
}

export interface SiteTables {
  readonly seal: Reader<[], SiteSealRow>;
  readonly putSeal: Statement<[SiteSealRow]>;
  readonly keys: Reader<[], StoredKey>;
  readonly key: Reader<[name: string], StoredKey>;
  readonly putKey: Statement<[StoredKey]>;
  readonly dropKey: Statement<[name: string]>;
  readonly devices: Reader<[], StoredDevice>;
  readonly device: Reader<[id: string], StoredDevice>;
  readonly putDevice: Statement<[StoredDevice]>;
  readonly dropDevice: Statement<[id: string]>;
  readonly epochs: Reader<[], StoredEpoch>;
  readonly epoch: Reader<[epoch: number], StoredEpoch>;
  readonly putEpoch: Statement<[StoredEpoch]>;
}

const sealShape: Shape<SiteSealRow> = { keyPrint: 'blob', rowSum: 'blob', code: 'blob' };
const keyShape: Shape<StoredKey> = { name: 'text', sealed: 'blob', code: 'blob' };
const deviceShape: Shape<StoredDevice> = {
  id: 'text',
  vendor: 'text',
  model: 'text',
  serial: 'text',
  firmware: 'text',
  enrolledAt: 'integer',
  refusesDefaultKey: 'integer',
  code: 'blob',
};
const epochShape: Shape<StoredEpoch> = { epoch: 'integer', firstKey: 'blob', begunAt: 'integer', code: 'blob' };

const deviceColumns =
  'id, vendor, model, serial, firmware, enrolled_at AS enrolledAt, refuses_default_key AS refusesDefaultKey, code';
const epochColumns = 'epoch, first_key AS firstKey, begun_at AS begunAt, code';

export function prepareSiteTables(store: Store): SiteTables {
  return {
    seal: prepareReader(
      store,
      sealShape,
      'SELECT key_print AS keyPrint, row_sum AS rowSum, code FROM site_seal WHERE id = 1',
    ),
    putSeal: store.prepare(
      `INSERT INTO site_seal VALUES (1, @keyPrint, @rowSum, @code) ON CONFLICT (id) DO UPDATE
        SET key_print = excluded.key_print, row_sum = excluded.row_sum, code = excluded.code`,
    ),
    keys: prepareReader(store, keyShape, 'SELECT name, sealed, code FROM sealed_key ORDER BY name'),
    key: prepareReader(store, keyShape, 'SELECT name, sealed, code FROM sealed_key WHERE name = ?'),
    putKey: store.prepare(
      `INSERT INTO sealed_key VALUES (@name, @sealed, @code) ON CONFLICT (name) DO UPDATE
        SET sealed = excluded.sealed, code = excluded.code`,
    ),
    dropKey: store.prepare('DELETE FROM sealed_key WHERE name = ?'),
    devices: prepareReader(store, deviceShape, `SELECT ${deviceColumns} FROM device ORDER BY id`),
    device: prepareReader(store, deviceShape, `SELECT ${deviceColumns} FROM device WHERE id = ?`),
    putDevice: store.prepare(
      `INSERT INTO device VALUES (@id, @vendor, @model, @serial, @firmware, @enrolledAt, @refusesDefaultKey, @code)
        ON CONFLICT (id) DO UPDATE SET vendor = excluded.vendor, model = excluded.model, serial = excluded.serial,
        firmware = excluded.firmware, enrolled_at = excluded.enrolled_at,
        refuses_default_key = excluded.refuses_default_key, code = excluded.code`,
    ),
    dropDevice: store.prepare('DELETE FROM device WHERE id = ?'),
    epochs: prepareReader(store, epochShape, `SELECT ${epochColumns} FROM journal_epoch ORDER BY epoch`),
    epoch: prepareReader(store, epochShape, `SELECT ${epochColumns} FROM journal_epoch WHERE epoch = ?`),
    putEpoch: store.prepare(
      `INSERT INTO journal_epoch VALUES (@epoch, @firstKey, @begunAt, @code) ON CONFLICT (epoch) DO UPDATE
        SET first_key = excluded.first_key, begun_at = excluded.begun_at, code = excluded.code`,
    ),
  };
}
