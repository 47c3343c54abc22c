import { randomInt } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { CredentialReading } from '#gateway/replica/credential-reader.ts';
import { replicaPath } from '#gateway/replica/replica-folder.ts';
import type { ReplicaReader } from '#gateway/replica/replica-reader.ts';
import { type DoorId, identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import { openReader, putInForce, tamper, temporaryFolder } from '../../fakes/replica-folder.ts';
import { sampleFacility, sampleLookup } from '../../fakes/sample-facility.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

const doorOf = (index: number): DoorId => identifier(`d${index}`);
const ask = (reader: ReplicaReader, index: number): CredentialReading =>
  reader.credential(sampleLookup(index), doorOf(index % 10));

describe('a replica as it was written', () => {
  test('gives back every row as it was put in', async () => {
    const folder = temporaryFolder();
    const rows = sampleFacility(500, 10);
    const head = await putInForce(folder, 1, rows);
    const reader = openReader(folder, head);
    expect(reader.state).toEqual({ kind: 'live', head });
    expect(reader.facility).toEqual(rows.facility);
    expect([...reader.doors.values()]).toEqual(expect.arrayContaining([...rows.doors]));
    expect(reader.readers).toEqual(expect.arrayContaining([...rows.readers]));
    expect([...reader.scheduleRows.values()]).toEqual(rows.schedules);
    for (const row of rows.credentials) {
      const index = Number(row.id.slice(1));
      expect(ask(reader, index)).toEqual({
        kind: 'found',
        row,
        grants: rows.grants.filter(({ credential, door }) => credential === row.id && door === doorOf(index % 10)),
      });
      expect(reader.holderOf(row.holder)).toEqual(rows.holders.find(({ id }) => id === row.holder));
    }
  });

  test('knows no card that was not put in, and no grant at another door', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(50, 10));
    const reader = openReader(folder);
    expect(ask(reader, 50)).toEqual({ kind: 'unknown' });
    expect(reader.credential(sampleLookup(3), doorOf(9))).toMatchObject({ kind: 'found', grants: [] });
  });

  test('finds a reader by device and head, and the lookup of a credential by its id', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(5, 3));
    const reader = openReader(folder);
    expect(reader.readerAt(identifier('device-2'), 0)?.id).toBe('r2');
    expect(reader.readerAt(identifier('device-2'), 1)).toBeUndefined();
    expect(reader.lookupOf(identifier('c4'))).toBe(sampleLookup(4));
    expect(reader.lookupOf(identifier('c5'))).toBeUndefined();
  });

  test('answers from the new epoch after it was reopened', async () => {
    const folder = temporaryFolder();
    const first = await putInForce(folder, 1, sampleFacility(5, 3));
    const reader = openReader(folder, first);
    expect(ask(reader, 7)).toEqual({ kind: 'unknown' });
    const second = await putInForce(folder, 2, sampleFacility(10, 10));
    expect(reader.reopen(first, wallMs(0))).toEqual({ kind: 'live', head: second });
    expect(ask(reader, 7).kind).toBe('found');
  });
});

/** Every value of the row that decides about card 3, but for the columns by which it is found. */
const tables = [
  { table: 'credential', where: "id = 'c3'", found: ['lookup'] },
  { table: 'door_grant', where: "credential = 'c3' AND door = 'd3'", found: ['bucket', 'credential', 'door'] },
  { table: 'door', where: "id = 'd3'", found: [] },
  { table: 'reader', where: "id = 'r3'", found: [] },
  { table: 'schedule', where: "id = 'office'", found: [] },
  { table: 'facility', where: "id = 'site'", found: [] },
] as const;

/** Every bit in the full run; otherwise a stride that meets every bit of a byte and every part of a value. */
const stride = process.env['KANNUKI_FULL'] === '1' ? 1 : 11;

type Value = string | number | Buffer | null;

/** The value with each of its bits turned, one at a time; null and numbers become neighbours of every kind. */
function* flipped(value: Value): Generator<Value> {
  if (value === null) {
    yield* [0, 1];
  } else if (typeof value === 'number') {
    for (let bit = 0; bit < 40; bit += 1) yield Number(BigInt(value) ^ (1n << BigInt(bit)));
  } else {
    const bytes = Buffer.from(value as Buffer);
    for (let bit = 0; bit < bytes.length * 8; bit += stride) {
      const turned = Buffer.from(bytes);
      turned.writeUInt8(turned.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      yield Buffer.isBuffer(value) ? turned : turned.toString('latin1');
    }
  }
}

/** A disk that cannot be read is a refusal too. */
function attempt<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch (error) {
    expect(String((error as { code?: unknown }).code)).toMatch(/^(SQLITE|STORE)_/);
    return undefined;
  }
}

function update(file: Database.Database, change: { table: string; where: string; column: string; value: Value }) {
  const { table, where, column, value } = change;
  file.prepare(`UPDATE OR REPLACE ${table} SET ${column} = ? WHERE ${where}`).run(value);
}

describe('a row changed outside the gateway', () => {
  test.each(tables)('is told whichever bit of $table was turned', async ({ table, where, found }) => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(200, 10));
    const original = readFileSync(replicaPath(folder, 1));
    const row = new Map<string, Value>();
    tamper(folder, 1, (file) => {
      const read = file.prepare(`SELECT * FROM ${table} WHERE ${where}`).get() as Record<string, Value>;
      for (const [column, value] of Object.entries(read)) row.set(column, value);
    });
    let tried = 0;
    for (const [column, value] of row) {
      if ((found as readonly string[]).includes(column)) continue;
      for (const turned of flipped(value)) {
        if (turned === value) continue;
        writeFileSync(replicaPath(folder, 1), original);
        tamper(folder, 1, (file) => update(file, { table, where, column, value: turned }));
        const reader = openReader(folder, head);
        const reading = ask(reader, 3);
        const isRefused =
          reader.state.kind === 'quarantined' || reading.kind !== 'found' || reader.tampered !== undefined;
        expect(isRefused, `${table}.${column} = ${String(turned)} was believed`).toBe(true);
        reader.close();
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(stride === 1 ? 300 : 50);
  });

  test('is never believed, wherever in the file a bit was turned', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(60, 10));
    const original = readFileSync(replicaPath(folder, 1));
    const truth = Array.from({ length: 60 }, (_, index) => ask(openReader(folder, head), index));
    const seed = randomInt(2 ** 31);
    const random = seededRandom(seed);
    let refused = 0;
    for (let round = 0; round < (stride === 1 ? 5_000 : 150); round += 1) {
      const damaged = Buffer.from(original);
      const bit = Math.floor(random() * damaged.length * 8);
      damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      writeFileSync(replicaPath(folder, 1), damaged);
      const reader = openReader(folder, head);
      for (const [index, right] of truth.entries()) {
        const reading = attempt(() => ask(reader, index));
        const isBelieved = reader.state.kind === 'live' && reader.tampered === undefined && reading?.kind === 'found';
        if (isBelieved && right.kind === 'found') {
          // A grant whose key was hit is not found any more: that refuses, and the check of everything names it.
          const grants = right.grants.filter((grant) =>
            reading.grants.some((other) => isDeepStrictEqual(other, grant)),
          );
          expect(reading, `seed ${seed}, bit ${bit}`).toEqual({ ...right, grants });
        }
        if (!isBelieved) refused += 1;
      }
      reader.close();
    }
    expect(refused).toBeGreaterThan(0);
  });

  test('is named by its table and key', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(20, 10));
    tamper(folder, 1, (file) => file.exec("UPDATE credential SET status = 'issued' WHERE id = 'c7'"));
    tamper(folder, 1, (file) => file.exec("UPDATE door SET name = 'x' WHERE id = 'd4'"));
    const reader = openReader(folder);
    expect(ask(reader, 7)).toEqual({ kind: 'tampered', table: 'credential', key: 'c7' });
    expect(reader.tampered).toEqual({ table: 'door', key: 'd4' });
    expect(ask(reader, 3).kind).toBe('found');
  });

  test('is told when it was moved to another key with its code', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(20, 10));
    tamper(folder, 1, (file) => {
      file.exec("UPDATE door_grant SET bucket = -1 WHERE credential = 'c3'");
      file.exec(`UPDATE door_grant SET credential = 'c3', bucket = (SELECT bucket FROM door_grant WHERE credential = 'c1')
        WHERE credential = 'c13'`);
    });
    const reader = openReader(folder);
    const reading = ask(reader, 3);
    expect(reading.kind === 'found' && reading.grants.length > 0).toBe(false);
  });
});

describe('an older row with its own code put back', () => {
  test.each([
    ['a revoked credential as it was before', 'credential', "id = 'c7'"],
    ['a grant that was taken away', 'door_grant', "credential = 'c7'"],
  ])('is told: %s', async (_, table, where) => {
    const folder = temporaryFolder();
    const now = sampleFacility(40, 10);
    const before = {
      ...now,
      credentials: now.credentials.map((row) => (row.id === 'c7' ? { ...row, status: 'issued' as const } : row)),
      holders: now.holders.map((row) => (row.id === 'h7' ? { ...row, name: 'Former name' } : row)),
    };
    const after = { ...now, grants: now.grants.filter(({ credential }) => credential !== 'c7') };
    await putInForce(folder, 1, before);
    const head = await putInForce(folder, 2, after);
    tamper(folder, 2, (file) => {
      file.prepare('ATTACH ? AS old').run(replicaPath(folder, 1));
      file.exec(`DELETE FROM ${table} WHERE ${where}`);
      file.exec(`INSERT INTO main.${table} SELECT * FROM old.${table} WHERE ${where}`);
    });
    const reader = openReader(folder, head);
    const kind = table === 'door_grant' ? 'grant' : table;
    expect(ask(reader, 7)).toEqual({ kind: 'tampered', table: kind, key: 'bucket' });
  });

  test('is not shown: a name as it was before', async () => {
    const folder = temporaryFolder();
    const now = sampleFacility(40, 10);
    await putInForce(folder, 1, { ...now, holders: now.holders.map((row) => ({ ...row, name: 'Former' })) });
    const head = await putInForce(folder, 2, now);
    const id = identifier<'holder'>('h7');
    expect(openReader(folder, head).holderOf(id)?.name).toBe('Holder 7');
    tamper(folder, 2, (file) => {
      file.prepare('ATTACH ? AS old').run(replicaPath(folder, 1));
      file.exec(`DELETE FROM holder WHERE id = 'h7';
        INSERT INTO main.holder SELECT * FROM old.holder WHERE id = 'h7'`);
    });
    expect(openReader(folder, head).holderOf(id)).toBeUndefined();
    tamper(folder, 2, (file) => file.exec("UPDATE holder SET name = 'x' WHERE id = 'h6'"));
    expect(openReader(folder, head).holderOf(identifier('h6'))).toBeUndefined();
  });

  test('is told in a table that is read whole, and when it was deleted', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(5, 3));
    tamper(folder, 1, (file) => file.exec("DELETE FROM door WHERE id = 'd2'"));
    expect(openReader(folder, head).state).toMatchObject({
      kind: 'quarantined',
      reason: 'rows of door are missing, added or old',
    });
  });

  test('is not hidden by the sums of its time', async () => {
    const folder = temporaryFolder();
    const now = sampleFacility(40, 10);
    await putInForce(folder, 1, { ...now, holders: now.holders.map((row) => ({ ...row, name: 'Former' })) });
    const head = await putInForce(folder, 2, now);
    tamper(folder, 2, (file) => {
      file.prepare('ATTACH ? AS old').run(replicaPath(folder, 1));
      for (const table of ['holder', 'bucket'])
        file.exec(`DELETE FROM ${table}; INSERT INTO main.${table} SELECT * FROM old.${table}`);
    });
    expect(openReader(folder, head).state).toMatchObject({
      kind: 'quarantined',
      reason: 'the bucket list is not the one of the head',
    });
  });
});

describe('a replica at start', () => {
  test('is empty where there never was one', () => {
    expect(openReader(temporaryFolder()).state).toEqual({ kind: 'empty' });
  });

  test('is quarantined when the journal knows a later state, and still says who asked where', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(20, 10));
    const reader = openReader(folder, { ...head, change: 2 });
    expect(reader.state).toEqual({ kind: 'quarantined', reason: 'older than the journal says', head });
    expect(ask(reader, 3).kind).toBe('found');
  });

  test('is quarantined when all of it was put back to an older epoch, pointer included', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(20, 10));
    const pointer = readFileSync(`${folder}/replica.json`);
    const head = await putInForce(folder, 2, sampleFacility(10, 10));
    writeFileSync(`${folder}/replica.json`, pointer);
    expect(openReader(folder, head).state.kind).toBe('quarantined');
  });

  test('is quarantined when an older file stands under the newest name', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(20, 10));
    const head = await putInForce(folder, 2, sampleFacility(10, 10));
    copyFileSync(replicaPath(folder, 1), replicaPath(folder, 2));
    expect(openReader(folder, head).state).toMatchObject({
      kind: 'quarantined',
      reason: 'the file is of another epoch than its name',
    });
  });

  test('is quarantined when its file or its pointer is gone, torn, or of another box', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(20, 10));
    const pointer = readFileSync(`${folder}/replica.json`);
    writeFileSync(`${folder}/replica.json`, '{"epo');
    expect(openReader(folder, head).state.kind).toBe('quarantined');
    rmSync(`${folder}/replica.json`);
    expect(openReader(folder, head).state).toMatchObject({ kind: 'quarantined', reason: 'epoch 1 is gone' });
    writeFileSync(`${folder}/replica.json`, pointer);
    tamper(folder, 1, (file) => file.exec('UPDATE head SET change = 2'));
    expect(openReader(folder, head).state).toMatchObject({
      kind: 'quarantined',
      reason: 'the head does not carry its code',
    });
    rmSync(replicaPath(folder, 1));
    expect(openReader(folder, head).state.kind).toBe('quarantined');
  });

  test('sets a damaged file aside whole and says where', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(20, 10));
    const torn = Buffer.from('not a database any more, but something else').toString().repeat(200);
    writeFileSync(replicaPath(folder, 1), torn);
    const { state } = openReader(folder, head);
    expect(state.kind).toBe('quarantined');
    const aside = state.kind === 'quarantined' ? /set aside as (\S+)/.exec(state.reason)?.[1] : undefined;
    expect(readFileSync(aside ?? '', 'utf8')).toBe(torn);
  });

  test('takes a state that the journal had no time to hear of', async () => {
    const folder = temporaryFolder();
    const first = await putInForce(folder, 1, sampleFacility(20, 10));
    const head = await putInForce(folder, 2, sampleFacility(20, 10));
    expect(openReader(folder, first).state).toEqual({ kind: 'live', head });
  });
});

test('a file whose pages were written over while it is read grants nothing any more, and says so', async () => {
  const folder = temporaryFolder();
  await putInForce(folder, 1, sampleFacility(20_000, 10));
  const reader = openReader(folder);
  const told: { readonly isLost: boolean }[] = [];
  reader.onFault((fault) => told.push(fault));
  const bytes = readFileSync(replicaPath(folder, 1));
  writeFileSync(replicaPath(folder, 1), bytes.fill(0xa5, 4_096 * 8), { flag: 'r+' });
  let failures = 0;
  for (let index = 0; index < 20_000 && failures === 0; index += 97) {
    try {
      ask(reader, index);
    } catch {
      failures += 1;
    }
  }
  expect(failures).toBe(1);
  expect(told).toMatchObject([{ isLost: true }]);
  expect(reader.state.kind).toBe('quarantined');
  await putInForce(folder, 2, sampleFacility(50, 10));
  expect(reader.reopen(undefined, wallMs(0)).kind).toBe('live');
});
