/** The test house with a cloud behind it: set up by its operator, its gateway enrolled, its edge process running. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../fakes/free-port.ts';
import { type NetworkLink, openNetworkLink } from '../fakes/network-link.ts';
import { createOperator, type Operator, placeCloud, startCloud } from './running-cloud.ts';
import { type OpenGateway, runCommand } from './running-gateway.ts';
import { openHouse, strikeMs, type TestHouse } from './test-house.ts';

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const program = join(project, 'gateway', 'main.ts');
const exitWithParent = join(project, 'tools', 'demo-exit-with-parent.ts');

interface EdgeProcess {
  kill(): Promise<void>;
}

export interface CloudHouse {
  readonly house: TestHouse;
  readonly operator: Operator;
  readonly gatewayId: string;
  /** Between the gateway's edge process and the cloud. */
  readonly link: NetworkLink;
  /** The door process of this moment. */
  readonly open: OpenGateway;
  startEdge(): void;
  killEdge(): Promise<void>;
  /** Ends the door process without a word and begins it again. */
  restartDoor(): Promise<void>;
  killCloud(): Promise<void>;
  /** Its database server with all its processes; the cloud begins it again when it is started anew. */
  killDatabase(): Promise<void>;
  startCloud(): Promise<void>;
  /** Issues a card for the house's doors. @returns the credential's id. */
  issue(number: number, terms?: object): Promise<string>;
  close(): Promise<void>;
}

/** @returns once the doors of the cloud are in force at the gateway. */
export async function openCloudHouse(): Promise<CloudHouse> {
  const house = await openHouse();
  // The database's own user must find its way in.
  chmodSync(house.dir, 0o711);
  const place = placeCloud(join(house.dir, 'cloud'), await freePort());
  let cloud = await startCloud(place);
  const link = await openNetworkLink(place.port);
  const operator = await createOperator(cloud, place);
  await setUp(operator);
  let gateway = house.start();
  let open = await gateway.open();
  let edge: EdgeProcess | undefined;
  const gatewayId = await enrol(house, link, operator);
  edge = spawnEdge(house);
  await until('the doors of the cloud to be in force', async () => (await open.status()).doors.length === 2);
  let holders = 0;
  return {
    ...{ house, operator, gatewayId, link },
    get open() {
      return open;
    },
    startEdge: () => {
      edge = spawnEdge(house);
    },
    killEdge: async () => await edge?.kill(),
    restartDoor: async () => {
      await gateway.kill();
      gateway = house.start();
      open = await gateway.open();
    },
    killCloud: () => cloud.kill(),
    killDatabase: async () => killPostmaster(join(house.dir, 'cloud', 'data', 'database', 'data')),
    startCloud: async () => {
      cloud = await startCloud(place);
    },
    issue: async (number, terms = {}) => {
      holders += 1;
      const holder = `holder-${holders}`;
      await operator.post('holders', { id: holder, name: `Holder ${holders}` });
      const grants = ['front', 'back'].map((door) => ({ door }));
      const card = { format: 'H10301', facility: 7, number };
      return (await operator.post('credentials', { holder, card, grants, ...terms })).item.id as string;
    },
    close: async () => {
      await edge?.kill();
      await gateway.stop();
      await link.close();
      await cloud.stop();
      await house.close();
    },
  };
}

async function setUp(operator: Operator): Promise<void> {
  const wiring = {
    front: { device: 'front-board', output: 0 },
    back: { device: 'back-board', output: 0, release: 'de-energise' },
  };
  for (const [id, lock] of Object.entries(wiring)) {
    const contact = id === 'front' ? { contact: { device: 'front-board', input: 0 } } : {};
    await operator.post('doors', { id, name: id, lock, ...contact, strikeMs, debounceMs: 0 });
    await operator.post('readers', { id: `${id}-reader`, name: `${id} reader`, door: id, device: `${id}-reader` });
  }
}

/** As an installer and an operator do it together. @returns the gateway's id. */
async function enrol(house: TestHouse, link: NetworkLink, operator: Operator): Promise<string> {
  const { code } = await operator.post('enrolment-codes', { name: 'House gateway' });
  const words = ['--cloud', `http://127.0.0.1:${link.port}`, '--code', code, '--json', '--config', house.configFile];
  const enrolled = runCommand('enroll', ...words);
  let waiting: { id: string; fingerprint: string } | undefined;
  await until('the gateway to come in', async () => {
    waiting = (await operator.get('gateways')).items[0];
    return waiting !== undefined;
  });
  if (waiting === undefined) throw new Error('no gateway');
  await operator.post(`gateways/${waiting.id}/confirm`, { fingerprint: waiting.fingerprint });
  const { code: exit, out, err } = await enrolled;
  if (exit !== 0) throw new Error(`enroll: ${out}${err}`);
  for (const door of ['front', 'back']) await operator.put(`doors/${door}/gateway`, { gateway: waiting.id });
  return waiting.id;
}

/** Its children end with it. */
function killPostmaster(folder: string): void {
  const pid = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  if (pid > 1) process.kill(pid, 'SIGKILL');
}

function spawnEdge(house: TestHouse): EdgeProcess {
  const log = openSync(join(house.dir, 'edge.log'), 'a', 0o600);
  const words = ['--import', exitWithParent, program, 'edge', '--config', house.configFile];
  const child: ChildProcess = spawn(process.execPath, words, { cwd: project, stdio: ['ignore', log, log, 'ipc'] });
  closeSync(log);
  return {
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** @param withinMs a bound against hanging, not an expectation. */
export async function until(what: string, holds: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await pause(20);
  }
}
