import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Replica, ReplicaFault } from '#gateway/replica/replica.ts';
import { replicaPath } from '#gateway/replica/replica-folder.ts';
import type { ReplicaHead } from '#gateway/replica/replica-head.ts';
import { settleBytes } from '#gateway/replica/replica-keeper.ts';
import type { RowChange } from '#gateway/replica/row-change.ts';
import { type CredentialRow, grantRow, holderRow } from '#shared/contract/replica-row.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import { asJson, writtenSet } from '../../fakes/import-files.ts';
import { putInForce, tamper, temporaryFolder } from '../../fakes/replica-folder.ts';
import {
  sampleCredential,
  sampleFacility,
  sampleLookup,
  testLookupKey,
  testRowKey,
} from '../../fakes/sample-facility.ts';

interface Opened {
  readonly replica: Replica;
  readonly heads: ReplicaHead[];
  readonly tampered: { readonly table: string; readonly key: string }[];
}

function open(folder: string, journalled?: ReplicaHead): Opened {
  const heads: ReplicaHead[] = [];
  const tampered: Opened['tampered'] = [];
  const replica = new Replica({
    folder,
    rowKey: testRowKey,
    lookupKey: testLookupKey,
    thread: new URL('../../../gateway/replica/replica-thread.ts', import.meta.url),
    journalled,
    wallNow: () => wallMs(0),
    onHead: (head) => heads.push(head),
    onTampered: (row) => tampered.push(row),
  });
  onTestFinished(() => replica.close());
  return { replica, heads, tampered };
}

const filesOf = (set: unknown) =>
  asJson(set).map(({ name, text }) => ({ name, bytes: new Uint8Array(Buffer.from(text)) }));
const order = (set: unknown, isDryRun = false) => ({
  files: filesOf(set),
  isDryRun,
  onProgress: () => {},
  devices: ['io', 'reader-1', 'reader-2'],
  signal: new AbortController().signal,
});
const upsertCredential = (row: CredentialRow): RowChange => ({ op: 'upsert', upsert: { kind: 'credential', row } });
const doorZero = identifier<'door'>('d0');

describe('an import', () => {
  test('is in force when it is done, is told to be journalled, and leaves no other file behind', async () => {
    const folder = temporaryFolder();
    const { replica, heads } = open(folder);
    expect(replica.reader.state).toEqual({ kind: 'empty' });
    const progress: string[] = [];
    const report = await replica.import({ ...order(writtenSet()), onProgress: (text) => progress.push(text) });
    expect(report).toMatchObject({ errors: [], epoch: 1, counts: { doors: 2, credentials: 3 } });
    expect(progress).toContain('PINs: 1 of 1');
    expect(replica.reader.state).toEqual({ kind: 'live', head: heads[0] });
    expect(replica.reader.facility?.name).toBe('City Hall');

    await replica.import(order({ ...writtenSet(), facility: { id: 'hall', name: 'Renamed', zone: 'Asia/Tokyo' } }));
    expect(replica.reader.facility?.name).toBe('Renamed');
    expect(heads.map(({ epoch }) => epoch)).toEqual([1, 2]);
    expect(readdirSync(folder).filter((name) => name.includes('-1.db'))).toEqual([]);
  });

  test('that is given up while PINs are hashed or rows written leaves nothing, and the next one begins at once', async () => {
    const folder = temporaryFolder();
    const { replica, heads } = open(folder);
    await replica.import(order(writtenSet()));
    const files = readdirSync(folder);
    const set = writtenSet();
    const pins = Array.from({ length: 200 }, (_, index) => ({
      id: `p${index}`,
      holder: 'ben',
      pin: String(100_000 + index),
    }));
    set.credentials.push(...pins);
    const cards = Array.from({ length: 3_000 }, (_, number) => ({
      id: `c${number}`,
      holder: 'ben',
      card: { format: 'H10304', facility: 9, number },
    }));
    for (const [many, word] of [
      [set, 'PINs: 10 '],
      [{ ...writtenSet(), credentials: [...writtenSet().credentials, ...cards] }, 'PINs: 1 of 1'],
    ] as const) {
      const ended = new AbortController();
      const onProgress = (text: string) => {
        if (text.startsWith(word)) ended.abort();
      };
      await expect(replica.import({ ...order(many), onProgress, signal: ended.signal })).rejects.toMatchObject({
        code: 'IMPORT_GIVEN_UP',
      });
      expect(readdirSync(folder)).toEqual(files);
    }
    expect(heads).toHaveLength(1);
    expect((await replica.import(order(writtenSet()))).epoch).toBe(2);
  });

  test('whose caller has gone before it begins is not begun', async () => {
    const { replica } = open(temporaryFolder());
    const signal = AbortSignal.abort();
    await expect(replica.import({ ...order(writtenSet()), signal })).rejects.toMatchObject({ code: 'IMPORT_GIVEN_UP' });
    expect(replica.reader.state).toEqual({ kind: 'empty' });
  });

  test('changes nothing when it is refused, or only a trial', async () => {
    const folder = temporaryFolder();
    const { replica, heads } = open(folder);
    await replica.import(order(writtenSet()));
    const files = readdirSync(folder);
    const refused = await replica.import(order({ ...writtenSet(), doors: [] }));
    expect(refused.errors.length).toBeGreaterThan(0);
    expect(refused.epoch).toBeUndefined();
    expect(await replica.import(order(writtenSet(), true))).toMatchObject({ errors: [], epoch: undefined });
    expect(replica.reader.doors.size).toBe(2);
    expect(heads).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(files);
  });

  test('heals a replica that is quarantined, in an epoch above the one the journal knows', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 3, sampleFacility(5, 3));
    const { replica, heads } = open(folder, { ...head, epoch: 7 });
    expect(replica.reader.state.kind).toBe('quarantined');
    expect(heads).toEqual([]);
    const report = await replica.import(order(writtenSet()));
    expect(report.epoch).toBe(8);
    expect(replica.reader.state.kind).toBe('live');
  });

  test('is not taken for done when its folder cannot be written', async () => {
    const { replica } = open(`${temporaryFolder()}/missing`);
    const failed = await replica.import(order(writtenSet())).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ReplicaFault);
    expect(failed).toMatchObject({ code: 'STORE_MISSING' });
    expect(replica.reader.state.kind).toBe('empty');
  });
});

describe('a batch of changes', () => {
  test('is in force when it is done: revoked, granted, renamed and removed together', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(20, 4));
    const { replica, heads } = open(folder, head);
    const outcome = await replica.apply({
      cursor: 5,
      changes: [
        upsertCredential({ ...sampleCredential(3), status: 'revoked', version: 2 }),
        upsertCredential({ ...sampleCredential(90), version: 1 }),
        {
          op: 'upsert',
          upsert: { kind: 'grant', row: grantRow.parse({ grant: 'new', credential: 'c90', door: 'd0', version: 1 }) },
        },
        { op: 'upsert', upsert: { kind: 'holder', row: holderRow.parse({ id: 'h3', name: 'Renamed', version: 2 }) } },
        { op: 'remove', key: { kind: 'credential', id: identifier('c4') } },
        { op: 'remove', key: { kind: 'credential', id: identifier('c4') } },
      ],
    });
    expect(outcome).toMatchObject({ status: 'applied', changed: 5, head: { epoch: 1, cursor: 5, change: 2 } });
    const { reader } = replica;
    expect(reader.credential(sampleLookup(3), doorZero)).toMatchObject({ row: { status: 'revoked' } });
    expect(reader.credential(sampleLookup(90), doorZero)).toMatchObject({ kind: 'found', grants: [{ grant: 'new' }] });
    expect(reader.holderOf(identifier('h3'))?.name).toBe('Renamed');
    expect(reader.credential(sampleLookup(4), doorZero)).toEqual({ kind: 'unknown' });
    expect(heads).toEqual([outcome.status === 'applied' && outcome.head]);
    expect(open(folder, heads[0]).replica.reader.state.kind).toBe('live');
    expect(open(folder, { ...(heads[0] as ReplicaHead), change: 3 }).replica.reader.state.kind).toBe('quarantined');
  });

  test('comes to the same sums as a snapshot of the rows that are left', async () => {
    const folder = temporaryFolder();
    const twin = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(30, 4));
    const { replica, heads } = open(folder);
    const rows = sampleFacility(30, 4);
    const changed = { ...sampleCredential(3), status: 'revoked' as const, version: 2 };
    await replica.apply({
      cursor: 1,
      changes: [upsertCredential(changed), { op: 'remove', key: { kind: 'credential', id: identifier('c9') } }],
    });
    const left = rows.credentials.filter(({ id }) => id !== 'c9').map((row) => (row.id === 'c3' ? changed : row));
    const head = await putInForce(twin, 1, { ...rows, credentials: left });
    expect(heads.at(-1)?.digest).toBe(head.digest);
  });

  test('shows at once in what is read whole: a door, its reader, a schedule', async () => {
    const folder = temporaryFolder();
    const rows = sampleFacility(20, 4);
    await putInForce(folder, 1, rows);
    const { replica } = open(folder);
    const [door, schedule] = [rows.doors[1], rows.schedules[0]];
    if (door === undefined || schedule === undefined) throw new Error('the sample has both');
    const noon = wallMs(Date.UTC(2026, 5, 1, 3));
    expect(replica.reader.schedules.granting(schedule.id, noon)).not.toEqual([]);
    await replica.apply({
      cursor: 1,
      changes: [
        { op: 'upsert', upsert: { kind: 'door', row: { ...door, strikeMs: 900, version: 2 } } },
        { op: 'upsert', upsert: { kind: 'schedule', row: { ...schedule, weekly: [], version: 2 } } },
        { op: 'remove', key: { kind: 'reader', id: identifier('r2') } },
      ],
    });
    expect(replica.reader.doors.get(door.id)?.strikeMs).toBe(900);
    expect(replica.reader.schedules.granting(schedule.id, noon)).toEqual([]);
    expect(replica.reader.readerAt(identifier('device-2'), 0)).toBeUndefined();
  });

  test('changes nothing a second time, nor by an older version, nor from behind the cursor', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(20, 4));
    const { replica } = open(folder);
    const batch = { cursor: 3, changes: [upsertCredential({ ...sampleCredential(3), usesMax: 5, version: 3 })] };
    expect((await replica.apply(batch)).status).toBe('applied');
    expect((await replica.apply(batch)).status).toBe('noop');
    const older = upsertCredential({ ...sampleCredential(3), usesMax: 9, version: 2 });
    expect((await replica.apply({ cursor: 3, changes: [older] })).status).toBe('noop');
    expect(await replica.apply({ cursor: 2, changes: [] })).toEqual({ status: 'refused', code: 'CURSOR_BEHIND' });
    expect(replica.reader.credential(sampleLookup(3), doorZero)).toMatchObject({ row: { usesMax: 5 } });
  });

  test('leaves a lookup value that two credentials have to the newer of them', async () => {
    const folder = temporaryFolder();
    const { replica } = open(folder, await putInForce(folder, 1, sampleFacility(20, 4)));
    const older = { ...sampleCredential(99), lookup: sampleLookup(5) };
    expect((await replica.apply({ cursor: 1, changes: [upsertCredential(older)] })).status).toBe('applied');
    expect(replica.reader.credential(sampleLookup(5), doorZero)).toMatchObject({ row: { id: 'c5' } });
    expect(replica.reader.lookupOf(older.id)).toBeUndefined();
    const newer = { ...older, version: 2 };
    await replica.apply({ cursor: 2, changes: [upsertCredential(newer)] });
    expect(replica.reader.credential(sampleLookup(5), doorZero)).toMatchObject({ row: { id: 'c99' } });
    expect(replica.reader.lookupOf(identifier('c5'))).toBeUndefined();
  });

  test('is not built upon a row that was changed outside the gateway, nor upon a replica in quarantine', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(20, 4));
    tamper(folder, 1, (file) => file.exec("UPDATE credential SET flags = 2 WHERE id = 'c3'"));
    const changes = [upsertCredential({ ...sampleCredential(3), version: 2 })];
    const { replica } = open(folder, head);
    await expect(replica.apply({ cursor: 1, changes })).rejects.toMatchObject({ code: 'ROW_TAMPERED' });
    const behind = open(folder, { ...head, change: 2 }).replica;
    await expect(behind.apply({ cursor: 1, changes })).rejects.toMatchObject({ code: 'REPLICA_QUARANTINED' });
  });

  test('is refused when it is larger than a batch may be', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(5, 3));
    const { replica } = open(folder);
    const changes = Array.from({ length: 501 }, () => upsertCredential(sampleCredential(3)));
    expect(await replica.apply({ cursor: 1, changes })).toEqual({ status: 'refused', code: 'TOO_MANY' });
  });

  test('after batch keeps the write-ahead log short, though decisions hold a snapshot', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, sampleFacility(3_000, 4));
    const { replica } = open(folder);
    let longest = 0;
    for (let round = 2; round < 22; round += 1) {
      const changes = Array.from({ length: 400 }, (_, index) =>
        upsertCredential({ ...sampleCredential(index * 7), version: round }),
      );
      expect((await replica.apply({ cursor: round, changes })).status).toBe('applied');
      longest = Math.max(longest, statSync(`${replicaPath(folder, 1)}-wal`).size);
    }
    expect(longest).toBeLessThan(4 * settleBytes);
    expect(replica.reader.credential(sampleLookup(7), doorZero)).toMatchObject({ row: { version: 21 } });
  });
});

describe('the check of everything', () => {
  test('finds what nobody asked for, names it, and vouches for the rest', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(60, 4));
    tamper(folder, 1, (file) => {
      file.exec("UPDATE holder SET name = 'x' WHERE id = 'h7'");
      file.exec("DELETE FROM credential WHERE id = 'c9'");
    });
    const { replica, tampered } = open(folder, head);
    await replica.checkAll();
    expect(tampered).toContainEqual({ table: 'holder', key: 'h7' });
    expect(tampered.filter(({ table }) => table === 'credential')).toHaveLength(1);
    expect(tampered).toHaveLength(2);
    expect(replica.reader.credential(sampleLookup(3), doorZero).kind).toBe('found');
  });

  test('clears away what a crash left behind', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 2, sampleFacility(5, 3));
    for (const name of ['replica-1.db', 'replica-3.db', 'replica-3.db-wal']) writeFileSync(`${folder}/${name}`, 'left');
    const { replica } = open(folder, head);
    await replica.checkAll();
    expect(existsSync(replicaPath(folder, 2))).toBe(true);
    expect(readdirSync(folder).filter((name) => /replica-[13]/.test(name))).toEqual([]);
  });
});

test('orders that wait when it closes are told so', async () => {
  const folder = temporaryFolder();
  await putInForce(folder, 1, sampleFacility(5, 3));
  const { replica } = open(folder);
  const waiting = replica.apply({ cursor: 1, changes: [] }).catch((error: unknown) => error);
  await replica.close();
  expect(await waiting).toMatchObject({ code: 'THREAD_FAILED' });
});
