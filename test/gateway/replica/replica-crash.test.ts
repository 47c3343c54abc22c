import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { buildSnapshot, streamOf } from '#gateway/replica/build-snapshot.ts';
import type { WholeCheck } from '#gateway/replica/check-whole.ts';
import {
  nextEpoch,
  readPointer,
  removeLeftovers,
  replicaPath,
  switchPointer,
} from '#gateway/replica/replica-folder.ts';
import type { ReplicaHead } from '#gateway/replica/replica-head.ts';
import { ReplicaKeeper } from '#gateway/replica/replica-keeper.ts';
import { createRowCodes } from '#gateway/replica/row-mac.ts';
import { identifier } from '#shared/identifier.ts';
import { openReader, putInForce, tamper, temporaryFolder } from '../../fakes/replica-folder.ts';
import { sampleFacility, sampleLookup, testLookupKey, testRowKey } from '../../fakes/sample-facility.ts';

const codes = createRowCodes(testRowKey);
const isFull = process.env['KANNUKI_FULL'] === '1';

async function faultsIn(folder: string): Promise<readonly WholeCheck[]> {
  const keeper = new ReplicaKeeper({ folder, rowKey: testRowKey, lookupKey: testLookupKey });
  const wrong: WholeCheck[] = [];
  await keeper.checkAll((_, check) => check.kind === 'wrong' && wrong.push(check), new AbortController().signal);
  keeper.close();
  return wrong;
}

/** Imports in a process of its own and kills it at a random moment. @returns the last head it said was in force. */
async function importAndKill(folder: string, afterMs: number): Promise<ReplicaHead | undefined> {
  const script = new URL('../../fakes/replica-import-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  while (!said.includes('\n')) await pause(5);
  await pause(afterMs);
  child.kill('SIGKILL');
  await ended;
  const lines = said.split('\n').slice(0, -1);
  return JSON.parse(lines.at(-1) ?? 'null') as ReplicaHead;
}

test('a process killed at any moment of an import leaves the former epoch or the new one, whole', async () => {
  const folder = temporaryFolder();
  for (let round = 0; round < (isFull ? 200 : 4); round += 1) {
    const head = await importAndKill(folder, randomInt(0, 600));
    const reader = openReader(folder, head);
    const { state } = reader;
    if (state.kind !== 'live') throw new Error(`after kill ${round}: ${JSON.stringify(state)}`);
    expect(state.head.epoch - (head?.epoch ?? 0)).toBeOneOf([0, 1]);
    expect(reader.facility?.name).toMatch(/^Round \d+$/);
    reader.close();
    expect(await faultsIn(folder)).toEqual([]);
    removeLeftovers(folder);
    const others = readdirSync(folder).filter(
      (name) => name.startsWith('replica-') && !name.startsWith(`replica-${state.head.epoch}.db`),
    );
    expect(others).toEqual([]);
  }
}, 600_000);

describe('what a crash can leave between the steps of a switch', () => {
  const rows = sampleFacility(50, 5);
  const bigger = sampleFacility(80, 5);
  const known = (folder: string, head: ReplicaHead, index: number): boolean => {
    const reader = openReader(folder, head);
    const reading = reader.credential(sampleLookup(index), identifier('d0'));
    return reader.state.kind === 'live' && reading.kind === 'found';
  };

  test('a half-built file, which has no head and is never live', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, rows);
    await buildSnapshot({ folder, epoch: 2, cursor: 0, rows: streamOf(bigger), codes });
    tamper(folder, 2, (file) => file.exec('DELETE FROM head'));
    expect(known(folder, head, 3)).toBe(true);
    switchPointer(folder, 2);
    expect(openReader(folder, head).state).toMatchObject({
      kind: 'quarantined',
      reason: 'the file was never completed',
    });
  });

  test('a complete file that the pointer does not name yet', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, rows);
    await buildSnapshot({ folder, epoch: 2, cursor: 0, rows: streamOf(bigger), codes });
    writeFileSync(`${folder}/replica.json.next`, '{"epoch":');
    expect(known(folder, head, 3)).toBe(true);
    expect(known(folder, head, 70)).toBe(false);
    expect(nextEpoch(folder, 0)).toBe(3);
    removeLeftovers(folder);
    expect(existsSync(replicaPath(folder, 2))).toBe(false);
  });

  test('a pointer that names the new file while the former is still there', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, rows);
    const head = await putInForce(folder, 2, bigger);
    expect(known(folder, head, 70)).toBe(true);
    removeLeftovers(folder);
    expect(existsSync(replicaPath(folder, 1))).toBe(false);
    expect(known(folder, head, 70)).toBe(true);
  });

  test('nothing is deleted while no pointer says what is live', async () => {
    const folder = temporaryFolder();
    await putInForce(folder, 1, rows);
    writeFileSync(`${folder}/replica.json`, 'torn');
    removeLeftovers(folder);
    expect(existsSync(replicaPath(folder, 1))).toBe(true);
    expect(readPointer(folder).kind).toBe('damaged');
    expect(nextEpoch(folder, 0)).toBe(2);
  });
});

describe('a -wal that is not the file’s own', () => {
  test('beside the name of a new epoch brings nothing back', async () => {
    const folder = temporaryFolder();
    const rows = sampleFacility(50, 5);
    const head = await putInForce(folder, 1, rows);
    // A log with a whole, valid transaction for a file of the same make.
    const other = temporaryFolder();
    await putInForce(other, 2, rows);
    const { default: Database } = await import('better-sqlite3');
    const file = new Database(replicaPath(other, 2));
    file.pragma('wal_autocheckpoint = 0');
    file.exec("UPDATE credential SET status = 'issued'");
    copyFileSync(`${replicaPath(other, 2)}-wal`, `${replicaPath(folder, 2)}-wal`);
    file.close();

    expect(nextEpoch(folder, head.epoch)).toBe(3);
    const second = await putInForce(folder, 2, rows);
    const reader = openReader(folder, second);
    expect(reader.state.kind).toBe('live');
    expect(reader.credential(sampleLookup(7), identifier('d2'))).toMatchObject({ row: { status: 'revoked' } });
    expect(await faultsIn(folder)).toEqual([]);
  });

  test('beside the live file is found out by the codes, if the database takes it for its own', async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(50, 5));
    const { default: Database } = await import('better-sqlite3');
    const file = new Database(replicaPath(folder, 1));
    file.pragma('wal_autocheckpoint = 0');
    file.exec("UPDATE credential SET status = 'issued'");
    const log = `${replicaPath(folder, 1)}-wal`;
    copyFileSync(log, `${folder}/kept`);
    copyFileSync(replicaPath(folder, 1), `${folder}/kept-db`);
    file.close();
    copyFileSync(`${folder}/kept-db`, replicaPath(folder, 1));
    copyFileSync(`${folder}/kept`, log);
    const reader = openReader(folder, head);
    expect(reader.credential(sampleLookup(7), identifier('d2')).kind).not.toBe('found');
  });
});

test.runIf(isFull)(
  '240 000 credentials become a replica, whole',
  async () => {
    const folder = temporaryFolder();
    const head = await putInForce(folder, 1, sampleFacility(240_000, 64));
    const reader = openReader(folder, head);
    expect(reader.state.kind).toBe('live');
    expect(reader.credential(sampleLookup(239_999), identifier('d0')).kind).toBe('found');
    expect(await faultsIn(folder)).toEqual([]);
  },
  300_000,
);

test('5 000 credentials become a replica, whole', async () => {
  const folder = temporaryFolder();
  const head = await putInForce(folder, 1, sampleFacility(5_000, 64));
  expect(openReader(folder, head).credential(sampleLookup(4_999), identifier('d0')).kind).toBe('found');
  expect(await faultsIn(folder)).toEqual([]);
}, 120_000);
