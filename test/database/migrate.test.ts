import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseFault } from '#cloud/database/database-fault.ts';
import { type Migrated, type MigrateOptions, migrate } from '#cloud/database/migrate.ts';
import { migrationFolder } from '#cloud/database/read-migrations.ts';
import { machines } from '#cloud/machines.ts';
import type { AnyMachine } from '#shared/machine.ts';
import { lampMachine } from './lamp.ts';
import { openTestDatabase, someServers, type TestDatabase } from './open-database.ts';

const lampTable = `create table wick (facility_id text not null, id text not null, size int not null, primary key (facility_id, id));
select build.tenant_table('wick', app => 'select');`;
const threeWicks = `-- rows: select 3
insert into wick values ('fac_a', 'a', 1), ('fac_a', 'b', 2), ('fac_b', 'c', 3);
-- end rows`;

describe.each(someServers)('migrate on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  let folder: string;
  beforeEach(async () => {
    database = await openTestDatabase({ server, isEmpty: true });
    folder = mkdtempSync(join(tmpdir(), 'kannuki-migrations-'));
    for (const file of readdirSync(migrationFolder)) {
      if (file < '0010') cpSync(join(migrationFolder, file), join(folder, file));
    }
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await database.close();
  });

  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  const run = (options: Partial<MigrateOptions> = {}): Promise<Migrated> =>
    migrate({ adminUrl: database.adminUrl, machines, folder, ...options });
  const fault = async (attempt: Promise<unknown>): Promise<string> => {
    const error = await attempt.catch((thrown: unknown) => thrown);
    return error instanceof DatabaseFault ? `${error.code}: ${error.message}` : String(error);
  };
  const landed = async (): Promise<readonly number[]> =>
    (await database.admin.selectFrom('schema_migration').select('number').orderBy('number').execute()).map(
      (row) => row.number,
    );

  it('applies what is new in order, and nothing twice', async () => {
    const first = await run();
    expect(first.applied.slice(0, 2)).toEqual(['claims', 'state']);
    expect(await run()).toEqual({ applied: [], version: first.version });
    write('0901_wick.sql', lampTable);
    write('0900_nothing.sql', 'select 1;');
    expect(await run()).toEqual({ applied: ['nothing', 'wick'], version: 901 });
    // Rooms number in ranges: a lower number may come later.
    write('0899_late.sql', 'select 1;');
    expect((await run()).applied).toEqual(['late']);
    expect((await landed()).slice(-3)).toEqual([899, 900, 901]);
  });

  it('builds the same with every migration of the build', async () => {
    const all = await migrate({ adminUrl: database.adminUrl, machines });
    expect(all.applied).toHaveLength(readdirSync(migrationFolder).length);
  });

  it('refuses a landed migration that was changed, renumbered or removed, and writes nothing', async () => {
    write('0900_wick.sql', lampTable);
    await run();
    write('0901_new.sql', 'create table stray (id text);');
    write('0900_wick.sql', `${lampTable} `);
    expect(await fault(run())).toMatch(/^DATABASE_MIGRATION_CHANGED: 0900_wick .*changed/);
    write('0900_wick.sql', lampTable);
    renameSync(join(folder, '0900_wick.sql'), join(folder, '0902_wick.sql'));
    expect(await fault(run())).toMatch(/^DATABASE_MIGRATION_CHANGED: 0900_wick .*renumbered/);
    rmSync(join(folder, '0902_wick.sql'));
    expect(await fault(run())).toMatch(/^DATABASE_MIGRATION_CHANGED: 0900_wick .*removed/);
    expect((await landed()).at(-1)).toBe(900);
    await expect(sql`select * from stray`.execute(database.admin)).rejects.toThrow('stray');
  });

  it('refuses a schema newer than the build', async () => {
    write('0950_future.sql', 'select 1;');
    await run();
    rmSync(join(folder, '0950_future.sql'));
    expect(await fault(run())).toMatch(/^DATABASE_NEWER_SCHEMA: .*0950_future/);
  });

  it('lets nodes that start at once take turns', async () => {
    write('0900_wick.sql', `${lampTable}\n${threeWicks}`);
    const runs = await Promise.all([1, 2, 3, 4].map(() => run()));
    expect(runs.filter(({ applied }) => applied.length > 0)).toHaveLength(1);
    expect(new Set(runs.map(({ version }) => version))).toEqual(new Set([900]));
  });

  it('leaves nothing of a migration that fails half-way, and takes it up again', async () => {
    write('0900_wick.sql', `${lampTable}\n${threeWicks}\nselect 1 / 0;`);
    expect(await fault(run())).toContain('division by zero');
    expect((await landed()).at(-1)).toBeLessThan(900);
    write('0900_wick.sql', `${lampTable}\n${threeWicks}`);
    expect((await run()).applied).toEqual(['wick']);
  });

  describe('of rows', () => {
    const rows = async (): Promise<readonly { id: string; size: number }[]> =>
      (await sql<{ id: string; size: number }>`select id, size from wick order by id`.execute(database.admin)).rows;

    it('touches as many as were counted, whosever they are', async () => {
      write('0900_wick.sql', `${lampTable}\n${threeWicks}`);
      write(
        '0901_grow.sql',
        '-- rows: select count(*) from wick where size < 3\nupdate wick set size = 10 where size < 3;\n-- end rows\nselect 1;',
      );
      await run();
      expect(await rows()).toEqual([
        { id: 'a', size: 10 },
        { id: 'b', size: 10 },
        { id: 'c', size: 3 },
      ]);
    });

    it.each([
      [
        'fewer than counted',
        '-- rows: select count(*) from wick\nupdate wick set size = 9 where size < 3;\n-- end rows',
        'counted 3 rows and touched 2',
      ],
      [
        'none, for want of a policy',
        'drop policy wick_migrator_update on wick;\n-- rows: select count(*) from wick\nupdate wick set size = 9;\n-- end rows',
        'counted 3 rows and touched 0',
      ],
      ['any without a count', 'update wick set size = 9;', 'by its owner is refused'],
      [
        'any without a count, on a bare table',
        "create table bare (id text); insert into bare values ('x');",
        'outside of a section of rows',
      ],
    ])('fails where it touches %s', async (_what, text, message) => {
      write('0900_wick.sql', `${lampTable}\n${threeWicks}`);
      await run();
      write('0901_grow.sql', text);
      expect(await fault(run())).toContain(message);
      expect((await rows()).map(({ size }) => size)).toEqual([1, 2, 3]);
      expect((await landed()).at(-1)).toBe(900);
    });
  });

  it('writes exactly the rules that are declared', async () => {
    const rules = async (): Promise<number> =>
      Number(
        (
          await sql<{ n: string }>`select count(*) as n from state_transition_rule where machine = 'lamp'`.execute(
            database.admin,
          )
        ).rows[0]?.n,
      );
    await run();
    expect(await rules()).toBe(0);
    await run({ machines: [...machines, lampMachine] });
    expect(await rules()).toBe(4);
    const fewer: AnyMachine = { ...lampMachine, events: ['light', 'douse'] };
    await run({ machines: [...machines, fewer] });
    expect(await rules()).toBe(2);
  });

  it('gives each login only its role', async () => {
    await run({ loginSecret: database.loginSecret });
    for (const role of ['app', 'worker', 'gateway'] as const) {
      for (const other of ['app', 'worker', 'gateway', 'owner', 'migrator', 'backup', 'ledger', 'lookup']) {
        const attempt = sql.raw(`set role kannuki_${other}`).execute(database[role]);
        if (other === role) await attempt;
        else await expect(attempt, `${role} becomes ${other}`).rejects.toThrow('permission denied');
      }
    }
  });
});

describe('a server that is not there', () => {
  it('is a fault of its own', async () => {
    const attempt = migrate({ adminUrl: 'postgres://nobody@127.0.0.1:9/none', machines });
    await expect(attempt).rejects.toMatchObject({ name: 'DatabaseFault', code: 'DATABASE_UNAVAILABLE' });
  });
});
