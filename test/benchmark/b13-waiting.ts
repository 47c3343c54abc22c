/**
 * B13: ten thousand gateways that wait at one cloud node: what each costs in memory, and how soon one hears of a change.
 *
 * The node is a real process on a real database; the gateways are a process of their own, so that neither comes near the
 * 20 000 descriptors a process may have. A change is a holiday made over the API in one of many facilities; the time runs
 * from that request to the answer in the hands of each gateway there.
 *
 * Run alone: `node test/benchmark/b13-waiting.ts`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { startServer } from '#cloud/database/embedded-server.ts';
import { newId } from '#cloud/database/new-id.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { feedKinds, waitMsMax } from '#shared/contract/sync/feed.ts';
import { rawPublicKey } from '#shared/signed-statement.ts';
import {
  createOperator,
  type Operator,
  placeCloud,
  type RunningCloud,
  signIn,
  startCloud,
} from '../end-to-end/running-cloud.ts';
import { freePort } from '../fakes/free-port.ts';
import type { Crowd, Heard } from './b13-gateways.ts';
import { addFacilities, addGateways } from './bench-database.ts';
import type { BenchRow } from './bench-row.ts';
import { median, round } from './journal-bench.ts';

const crowdSize = Number(process.env['KANNUKI_BENCH_GATEWAYS'] ?? 10_000);
const gatewaysEach = 10;
/** The facilities in which something changes, one after another. */
const changes = 50;
const changeEveryMs = 300;
const perSecond = 300;
const comeWithinMs = 60_000;
const wakeMs = 1_000;
const kinds = Object.entries(feedKinds)
  .map(([kind, version]) => `${kind}:${version}`)
  .join(',');
/** Each comes again at the end of its wait. */
const budgetMs = waitMsMax / crowdSize;

export async function run(): Promise<BenchRow[]> {
  const home = mkdtempSync(join(tmpdir(), 'kannuki-bench-'));
  chmodSync(home, 0o711);
  const place = placeCloud(join(home, 'cloud'), await freePort());
  const cloud = await startCloud(place);
  // The cloud's own server, which runs already.
  const server = await startServer({ folder: join(place.dir, 'data', 'database') });
  const admin = openPool({ url: server.adminUrl, size: 2, name: 'bench-admin', statementMs: 120_000 });
  let crowd: ChildProcess | undefined;
  try {
    const operator = await createOperator(cloud, place);
    const { privateKey } = generateKeyPairSync('ed25519');
    const facilities = await addFacilities(admin, Math.ceil(crowdSize / gatewaysEach));
    const gateways = await addGateways(admin, facilities, { each: gatewaysEach, edgeKey: rawPublicKey(privateKey) });
    await settleIn(admin);
    const chosen = facilities.filter((_, index) => index % Math.floor(facilities.length / changes) === 0);
    await letIn(admin, operator, chosen);
    const idleKiB = residentKiB(cloud.pid);
    const idleMs = processorMs(cloud.pid);
    const key = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('hex');
    const ear = listen();
    crowd = ear.child;
    crowd.send({ url: cloud.url, gateways, key, kinds, perSecond } satisfies Crowd);
    const waiting = await comeTogether(cloud);
    const eachKiB = (residentKiB(cloud.pid) - idleKiB) / waiting;
    // Those that wait have had the greater half of their work.
    const polls = waiting + (cloud.log().match(/"route":"\/gateway\/v1\/feed"/g)?.length ?? 0);
    const pollMs = (processorMs(cloud.pid) - idleMs) / polls;
    // A node that has more than it can carry answers nobody in time: then there is no such figure.
    const wakes = await wakeSome(cloud, admin, { chosen, ear }).catch((error: unknown) => {
      ear.failures.push(String(error));
      return [];
    });
    return rowsOf({ waiting, eachKiB, pollMs, wakes, failures: ear.failures });
  } finally {
    crowd?.kill('SIGKILL');
    await cloud.kill();
    await admin.destroy();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

interface Measured {
  readonly waiting: number;
  readonly eachKiB: number;
  /** Processor time of the node for one poll, ms. */
  readonly pollMs: number;
  /** ms. */
  readonly wakes: readonly number[];
  readonly failures: readonly string[];
}

function rowsOf({ waiting, eachKiB, pollMs, wakes, failures }: Measured): BenchRow[] {
  const sorted = wakes.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  const whole = crowdSize * 0.99;
  const failed = failures.length === 0 ? '' : `, ${failures.length} failed (${failures[0]})`;
  return [
    {
      ...{ id: 'B13', what: 'gateways that wait at one node', figure: `${waiting}${failed}` },
      peer: `${crowdSize} came, less those on their way; ${round(eachKiB)} KiB of memory each`,
      ...{ ratio: round(waiting / crowdSize), bar: '≥ 0.99', ok: waiting >= whole },
    },
    {
      ...{ id: 'B13', what: 'processor time of the node for one poll', figure: `${round(pollMs)} ms` },
      peer: `what one core has for each of ${crowdSize}: ${round(budgetMs)} ms`,
      ...{ ratio: round(pollMs / budgetMs), bar: '≤ 1', ok: pollMs <= budgetMs },
    },
    {
      ...{ id: 'B13', what: `change → answer in a gateway's hands, p99 of ${wakes.length}` },
      figure: `p50 ${Math.round(median(wakes))} ms, p99 ${Math.round(p99)} ms`,
      ...{ peer: `${wakeMs} ms`, ratio: round(p99 / wakeMs), bar: '< 1', ok: p99 < wakeMs },
    },
  ];
}

/** Each has been here before, stands at the beginning of its feed and has said so. */
async function settleIn(admin: Database): Promise<void> {
  const digest = '0'.repeat(64);
  await admin.transaction().execute(async (transaction) => {
    await sql`set local session_replication_role = replica`.execute(transaction);
    await sql`insert into feed_ack (facility_id, gateway_id, epoch, cursor_seq, digest, is_same, boot_id, boot_count, said_at)
      select facility_id, id, 1, 0, ${digest}, true, 'boot', 1, now() from gateway`.execute(transaction);
    await sql`insert into gateway_health (facility_id, gateway_id, kinds, last_seen_at)
      select facility_id, id, ${kinds}, now() - interval '1 minute' from gateway`.execute(transaction);
  });
  await sql`vacuum analyze`.execute(admin);
}

async function letIn(admin: Database, { facility }: Operator, facilities: readonly string[]): Promise<void> {
  const rows = facilities.map((id) => ({ facility: id, id: newId('rol') }));
  await sql`insert into role_assignment (facility_id, id, user_id, role, assigned_by)
    select r.facility, r.id, a.user_id, 'owner', a.user_id
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(facility text, id text)
    cross join role_assignment a where a.facility_id = ${facility}`.execute(admin);
}

interface Ear {
  readonly child: ChildProcess;
  readonly woken: Extract<Heard, { kind: 'woken' }>[];
  readonly failures: string[];
}

function listen(): Ear {
  const child = fork(fileURLToPath(new URL('./b13-gateways.ts', import.meta.url)));
  const ear: Ear = { child, woken: [], failures: [] };
  child.on('message', (message) => {
    const heard = message as Heard;
    if (heard.kind === 'woken') ear.woken.push(heard);
    else ear.failures.push(heard.why);
  });
  return ear;
}

/** @returns how many wait at most, once all are there or the time is over. */
async function comeTogether(cloud: RunningCloud): Promise<number> {
  const end = performance.now() + comeWithinMs;
  let most = 0;
  while (performance.now() < end && most < crowdSize * 0.99) {
    await pause(500);
    most = Math.max(most, await countWaiting(cloud));
  }
  return most;
}

async function countWaiting(cloud: RunningCloud): Promise<number> {
  const operations = /"operationsUrl":"([^"]+)"/.exec(cloud.log())?.[1];
  const text = await (await fetch(`${operations}/metrics`)).text();
  return Number(/^kannuki_sync_waiting (\d+)/m.exec(text)?.[1] ?? 0);
}

/** @returns for each gateway of a facility in which something changed, how long it took until it knew. */
async function wakeSome(
  { url }: RunningCloud,
  admin: Database,
  { chosen, ear }: { readonly chosen: readonly string[]; readonly ear: Ear },
): Promise<readonly number[]> {
  const begun = new Map<string, number>();
  const operator = await signIn(url, chosen[0] ?? '');
  for (const facility of chosen) {
    begun.set(facility, performance.timeOrigin + performance.now());
    await operator.post(`/v1/facilities/${facility}/holidays`, { name: 'Founding day', date: '2030-05-01' });
    await pause(changeEveryMs);
  }
  const expected = chosen.length * gatewaysEach;
  const end = performance.now() + 30_000;
  while (new Set(ear.woken.map(({ gateway }) => gateway)).size < expected) {
    if (performance.now() > end) throw new Error(`${ear.woken.length} of ${expected} gateways heard of a change`);
    await pause(100);
  }
  const found = await sql<{ id: string; facility_id: string }>`select id, facility_id from gateway
    where facility_id = any (${chosen}::text[])`.execute(admin);
  const facilityOf = new Map(found.rows.map(({ id, facility_id }) => [id, facility_id]));
  return ear.woken.map(({ gateway, at }) => at - (begun.get(facilityOf.get(gateway) ?? '') ?? Number.NaN));
}

/** Processor time a process has had, ms; the kernel counts hundredths of a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process, KiB. */
function residentKiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

if (import.meta.main) console.table(await run());
