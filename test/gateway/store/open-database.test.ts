import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkDatabase } from '#gateway/store/check-database.ts';
import { type Migration, migrate, readMigrations, requireMigrated } from '#gateway/store/migrate.ts';
import { openDatabase, requireSqlite } from '#gateway/store/open-database.ts';
import { quarantine } from '#gateway/store/quarantine.ts';
import { openOrRecover } from '#gateway/store/recover-file.ts';
import { createFolder, type Folder, noon } from '../journal/journal-fixture.ts';

let folder: Folder;
let path: string;
beforeEach(() => {
  folder = createFolder();
  path = join(folder.path, 'some.db');
});
afterEach(() => folder.remove());

const fault = (code: string) => expect.objectContaining({ name: 'StoreFault', code });
const open = (mode: 'create' | 'existing' | 'read') => openDatabase({ path, mode });
const migrations: readonly Migration[] = [
  { number: 1, name: '0001-a.sql', sql: 'CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT) STRICT;' },
  { number: 2, name: '0002-b.sql', sql: 'CREATE TABLE b (x INTEGER PRIMARY KEY) STRICT; INSERT INTO b VALUES (1);' },
];

function create(upTo = migrations): void {
  const store = open('create');
  migrate(store, upTo);
  store.close();
}

describe('opening', () => {
  it('syncs every commit of a write-ahead log, and takes the page size it is told', () => {
    const store = openDatabase({ path, mode: 'create', pageSize: 1_024 });
    const pragma = (name: string) => store.pragma(name, { simple: true });
    expect(pragma('journal_mode')).toBe('wal');
    expect(pragma('synchronous')).toBe(2);
    expect(pragma('foreign_keys')).toBe(1);
    expect(pragma('busy_timeout')).toBe(0);
    expect(pragma('secure_delete')).toBe(1);
    expect(pragma('page_size')).toBe(1_024);
    store.close();
  });

  it('does not make a file that should be there, nor one in a folder that is not', () => {
    expect(() => open('existing')).toThrow(fault('STORE_MISSING'));
    expect(() => open('read')).toThrow(fault('STORE_MISSING'));
    expect(() => openDatabase({ path: join(folder.path, 'no', 'a.db'), mode: 'create' })).toThrow(
      fault('STORE_MISSING'),
    );
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('never writes through a file opened to read', () => {
    create();
    const store = open('read');
    expect(() => store.exec('DELETE FROM b')).toThrow(/readonly/);
    store.close();
  });

  it('refuses an empty file that should hold something, and text', () => {
    writeFileSync(path, '');
    expect(() => open('existing')).toThrow(fault('STORE_DAMAGED'));
    writeFileSync(path, 'this is not a database, however long it may be'.repeat(100));
    expect(() => open('create')).toThrow(fault('STORE_DAMAGED'));
  });

  it('leaves a log without its database as it is: it would bring old rows back, or be deleted', () => {
    writeFileSync(`${path}-wal`, 'log');
    expect(() => open('create')).toThrow(fault('STORE_DAMAGED'));
    writeFileSync(path, '');
    expect(() => open('create')).toThrow(fault('STORE_DAMAGED'));
    expect(readFileSync(`${path}-wal`, 'utf8')).toBe('log');
  });

  it('names a file that is really a folder', () => {
    mkdirSync(path);
    expect(() => open('create')).toThrow(fault('STORE_FAILED'));
  });

  it('does not wait for another holder', () => {
    create();
    const [one, other] = [open('existing'), open('existing')];
    one.exec('BEGIN IMMEDIATE');
    expect(() => migrate(other, migrations)).toThrow(fault('STORE_BUSY'));
    one.close();
    other.close();
  });

  it.each(['3.51.2', '3.50.9', '2.99.99', 'nonsense'])('refuses SQLite %s', (version) => {
    expect(() => requireSqlite(version, path)).toThrow(fault('STORE_SQLITE_TOO_OLD'));
  });
  it.each(['3.51.3', '3.52.0', '4.0.0'])('takes SQLite %s', (version) => {
    expect(() => requireSqlite(version, path)).not.toThrow();
  });
});

describe('migrating', () => {
  it('applies what is new, once', () => {
    create(migrations.slice(0, 1));
    const store = open('existing');
    expect(migrate(store, migrations)).toEqual({ from: 1, to: 2 });
    expect(migrate(store, migrations)).toEqual({ from: 2, to: 2 });
    expect(store.prepare('SELECT count(*) FROM b').pluck().get()).toBe(1);
    store.close();
  });

  it('applies all or nothing', () => {
    create(migrations.slice(0, 1));
    const store = open('existing');
    const broken = [...migrations, { number: 3, name: '0003-c.sql', sql: 'CREATE TABLE c (x) STRICT;' }];
    expect(() => migrate(store, broken)).toThrow();
    expect(store.prepare("SELECT count(*) FROM sqlite_schema WHERE name IN ('b', 'c')").pluck().get()).toBe(0);
    expect(migrate(store, migrations)).toEqual({ from: 1, to: 2 });
    store.close();
  });

  it('refuses a file of a later version, untouched', () => {
    create();
    const before = readFileSync(path);
    const store = open('existing');
    expect(() => migrate(store, migrations.slice(0, 1))).toThrow(fault('STORE_NEWER_SCHEMA'));
    expect(() => requireMigrated(store, migrations.slice(0, 1))).toThrow(fault('STORE_DAMAGED'));
    store.close();
    expect(readFileSync(path)).toEqual(before);
  });

  it('refuses a migration that was changed after it had landed', () => {
    create();
    const store = open('existing');
    const changed = migrations.map((migration) => ({ ...migration, sql: `${migration.sql} -- better` }));
    expect(() => migrate(store, changed)).toThrow(fault('STORE_MIGRATION_CHANGED'));
    store.close();
  });

  it.each([
    ['a record torn', "UPDATE schema_migration SET checksum = 'x' WHERE number = 1"],
    ['a record gone', 'DELETE FROM schema_migration WHERE number = 1'],
    ['a table more', 'CREATE TABLE c (x)'],
    ['a table less', 'DROP TABLE b'],
    ['a trigger more', 'CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; END'],
  ])('takes %s for damage', (_, change) => {
    create();
    const store = open('existing');
    store.exec(change);
    expect(() => migrate(store, migrations)).toThrow(fault('STORE_DAMAGED'));
    store.close();
  });

  it.each(['journal', 'site'] as const)('finds the migrations of the %s in order', (of) => {
    const found = readMigrations(of);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map(({ number }) => number)).toEqual(found.map((_, index) => index + 1));
    for (const { sql } of found) expect(sql.match(/CREATE TABLE/g)?.length).toBe(sql.match(/STRICT/g)?.length);
  });
});

describe('a damaged file', () => {
  it('is opened or called damaged, whichever bit of its header is turned', () => {
    create();
    const sound = readFileSync(path);
    for (let bit = 0; bit < 100 * 8; bit += 1) {
      const turned = Buffer.from(sound);
      turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, turned);
      let code: unknown;
      try {
        open('existing').close();
      } catch (error) {
        code = (error as { code?: unknown }).code;
      }
      expect([undefined, 'STORE_DAMAGED'], `bit ${bit}`).toContain(code);
    }
  });

  const recover = (isExpected: boolean) =>
    openOrRecover({
      path,
      isExpected,
      at: noon,
      open: (mode) => {
        const isNew = !existsSync(path);
        const store = openDatabase({ path, mode });
        try {
          migrate(store, migrations);
        } catch (error) {
          store.close();
          throw error;
        }
        return Object.assign(store, { isNew });
      },
    });

  it('is set aside whole, under a name that tells when, twice in one millisecond too', () => {
    for (const suffix of ['', '-2']) {
      for (const part of ['', '-wal', '-shm']) writeFileSync(path + part, `content${part}`);
      const aside = quarantine(path, noon);
      expect(aside).toBe(`${path}.damaged-2026-01-15T120000-000Z${suffix}`);
      expect(readFileSync(`${aside}-wal`, 'utf8')).toBe('content-wal');
      expect(existsSync(path)).toBe(false);
    }
    expect(readdirSync(folder.path)).toHaveLength(6);
  });

  it('is followed by a new one, and that is told', () => {
    writeFileSync(path, 'rubbish'.repeat(1_000));
    writeFileSync(`${path}-wal`, 'old log');
    const { file, found } = recover(true);
    expect(found).toMatchObject({ kind: 'lost', reason: 'damaged' });
    expect(file.prepare('SELECT count(*) FROM b').pluck().get()).toBe(1);
    file.close();
  });

  it('that is missing although expected is told from one that never was', () => {
    const missing = recover(true);
    expect(missing.found).toMatchObject({ kind: 'lost', reason: 'missing', aside: null });
    missing.file.close();
    const again = recover(true);
    expect(again.found).toEqual({ kind: 'opened' });
    again.file.close();
  });

  it('is never replaced for a fault that may pass', () => {
    create([...migrations, { number: 3, name: '0003-later.sql', sql: 'CREATE TABLE later (x INTEGER) STRICT;' }]);
    expect(() => recover(true)).toThrow(fault('STORE_NEWER_SCHEMA'));
    expect(readdirSync(folder.path)).toEqual(['some.db']);
  });
});

describe('checking in the background', () => {
  it('finds a sound file sound and a torn one damaged', async () => {
    create();
    expect(await checkDatabase({ path })).toEqual({ kind: 'sound' });
    const store = open('existing');
    for (let x = 0; x < 5_000; x += 1) store.prepare('INSERT INTO a VALUES (?, ?)').run(x, 'y'.repeat(50));
    store.close();
    const bytes = readFileSync(path);
    bytes.fill(0x33, 40_960, 45_056);
    writeFileSync(path, bytes);
    const result = await checkDatabase({ path });
    expect(result.kind).not.toBe('sound');
  });

  it('says that a file cannot be read', async () => {
    expect(await checkDatabase({ path })).toMatchObject({ kind: 'unreadable', code: 'STORE_MISSING' });
  });

  it('ends when it is told to', async () => {
    create();
    const controller = new AbortController();
    const checking = checkDatabase({ path, signal: controller.signal });
    controller.abort(new Error('stopping'));
    await expect(checking).rejects.toThrow('stopping');
  });
});
