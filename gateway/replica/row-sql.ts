/**
 * The statements of the replica's tables, one set per kind of row.
 *
 * `find`, `remove`: by the identity of the row. `put` takes the identity's bucket where there is one, the columns in their
 * order, and the code. Rows come back as the columns and, last, the code; blobs pass as lower-case hexadecimal.
 */
import type { RowKind } from '#shared/replica-digest.ts';

interface KindSql {
  readonly put: string;
  readonly find: string;
  readonly remove: string;
  readonly all: string;
  /** Only the codes, of the rows of one bucket; of all rows, where the kind is one bucket. */
  readonly codes: string;
}

export const rowSql: Readonly<Record<RowKind, KindSql>> = {
  facility: {
    put: 'INSERT INTO facility VALUES (?, ?, ?, ?, ?, unhex(?))',
    find: 'SELECT id, name, zone, pin_salt, version, lower(hex(mac)) FROM facility WHERE id = ?',
    remove: 'DELETE FROM facility WHERE id = ?',
    all: 'SELECT id, name, zone, pin_salt, version, lower(hex(mac)) FROM facility',
    codes: 'SELECT lower(hex(mac)) FROM facility',
  },
  schedule: {
    put: 'INSERT INTO schedule VALUES (?, ?, ?, ?, ?, unhex(?))',
    find: 'SELECT id, name, weekly, on_holidays, version, lower(hex(mac)) FROM schedule WHERE id = ?',
    remove: 'DELETE FROM schedule WHERE id = ?',
    all: 'SELECT id, name, weekly, on_holidays, version, lower(hex(mac)) FROM schedule',
    codes: 'SELECT lower(hex(mac)) FROM schedule',
  },
  holiday: {
    put: 'INSERT INTO holiday VALUES (?, ?, ?, ?, unhex(?))',
    find: 'SELECT id, name, date, version, lower(hex(mac)) FROM holiday WHERE id = ?',
    remove: 'DELETE FROM holiday WHERE id = ?',
    all: 'SELECT id, name, date, version, lower(hex(mac)) FROM holiday',
    codes: 'SELECT lower(hex(mac)) FROM holiday',
  },
  door: {
    put: 'INSERT INTO door VALUES (?, ?, ?, ?, ?, ?, unhex(?))',
    find: 'SELECT id, name, wiring, timing, rules, version, lower(hex(mac)) FROM door WHERE id = ?',
    remove: 'DELETE FROM door WHERE id = ?',
    all: 'SELECT id, name, wiring, timing, rules, version, lower(hex(mac)) FROM door',
    codes: 'SELECT lower(hex(mac)) FROM door',
  },
  reader: {
    put: 'INSERT INTO reader VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?))',
    find: `SELECT id, name, door, device, head, from_area, to_area, uid_order, card_formats, version, lower(hex(mac))
      FROM reader WHERE id = ?`,
    remove: 'DELETE FROM reader WHERE id = ?',
    all: `SELECT id, name, door, device, head, from_area, to_area, uid_order, card_formats, version, lower(hex(mac))
      FROM reader`,
    codes: 'SELECT lower(hex(mac)) FROM reader',
  },
  holder: {
    put: 'INSERT INTO holder VALUES (?, ?, ?, ?, unhex(?))',
    find: 'SELECT id, name, version, lower(hex(mac)) FROM holder WHERE bucket = ? AND id = ?',
    remove: 'DELETE FROM holder WHERE bucket = ? AND id = ?',
    all: 'SELECT id, name, version, lower(hex(mac)) FROM holder WHERE bucket = ?',
    codes: 'SELECT lower(hex(mac)) FROM holder WHERE bucket = ?',
  },
  credential: {
    put: 'INSERT INTO credential VALUES (unhex(?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, unhex(?))',
    find: `SELECT lower(hex(lookup)), id, holder, kind, status, valid_from, valid_until, lease_ms, uses_max, flags, version,
      lower(hex(mac)) FROM credential WHERE id = ?`,
    remove: 'DELETE FROM credential WHERE id = ?',
    all: `SELECT lower(hex(lookup)), id, holder, kind, status, valid_from, valid_until, lease_ms, uses_max, flags, version,
      lower(hex(mac)) FROM credential WHERE lookup >= unhex(?) AND lookup <= unhex(?)`,
    codes: 'SELECT lower(hex(mac)) FROM credential WHERE lookup >= unhex(?) AND lookup <= unhex(?)',
  },
  grant: {
    put: 'INSERT INTO door_grant VALUES (?, ?, ?, ?, ?, ?, ?, ?, unhex(?))',
    find: `SELECT credential, door, grant_id, schedule, valid_from, valid_until, version, lower(hex(mac)) FROM door_grant
      WHERE bucket = ? AND credential = ? AND door = ? AND grant_id = ?`,
    remove: 'DELETE FROM door_grant WHERE bucket = ? AND credential = ? AND door = ? AND grant_id = ?',
    all: `SELECT credential, door, grant_id, schedule, valid_from, valid_until, version, lower(hex(mac)) FROM door_grant
      WHERE bucket = ?`,
    codes: 'SELECT lower(hex(mac)) FROM door_grant WHERE bucket = ?',
  },
};

/** What a decision reads: the columns, then the code. The lookup value is known, being what was asked for. */
export const decisionSql = {
  credential: `SELECT id, holder, kind, status, valid_from, valid_until, lease_ms, uses_max, flags, version,
    lower(hex(mac)) FROM credential WHERE lookup = ?`,
  grants: `SELECT grant_id, schedule, valid_from, valid_until, version, lower(hex(mac)) FROM door_grant
    WHERE bucket = ? AND credential = ? AND door = ?`,
  holder: 'SELECT name, version, lower(hex(mac)) FROM holder WHERE bucket = ? AND id = ?',
} as const;

export const headSql = {
  read: 'SELECT epoch, cursor, change, lower(hex(digest)), lower(hex(root)), lower(hex(mac)) FROM head',
  write: 'INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?, unhex(?), unhex(?), unhex(?))',
  sums: 'SELECT slot, lower(hex(sum)) FROM bucket',
  writeSum: 'INSERT OR REPLACE INTO bucket VALUES (?, unhex(?))',
  removeSum: 'DELETE FROM bucket WHERE slot = ?',
  ofLookup: 'SELECT id FROM credential WHERE lookup = unhex(?)',
  digests: 'SELECT kind, lower(hex(sum)) FROM kind_digest',
  writeDigest: 'INSERT OR REPLACE INTO kind_digest VALUES (?, unhex(?))',
} as const;

/** While a new file is filled. */
export const buildSql = {
  begin: 'BEGIN IMMEDIATE',
  nextCommit: 'COMMIT; BEGIN IMMEDIATE',
  commit: 'COMMIT',
  findIndex: "SELECT sql FROM sqlite_schema WHERE name = 'credential_id'",
  dropIndex: 'DROP INDEX credential_id',
} as const;
