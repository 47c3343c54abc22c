/**
 * A small house for end-to-end tests: a simulated site that stays, a gateway that may go, people with cards.
 *
 * Two lines. `front` is a strike (current releases), `back` a magnet (current secures), `yard` a strike without a
 * contact, for modes. Releases are short, so that a device's own timer ends them within a test.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Entry } from '#gateway/journal/entry.ts';
import { openSite, type RunningSite } from '#gateway/simulator/open-site.ts';
import { checkSite } from '#gateway/simulator/parse-site.ts';
import { siteCalls } from '#gateway/simulator/site-call.ts';
import type { SiteInput } from '#gateway/simulator/site-file.ts';
import { readStrikeRecord, type StrikeEvent } from '#gateway/simulator/strike-record.ts';
import { encodeCard } from '#protocol/wiegand/encode-card.ts';
import { h10301 } from '#protocol/wiegand/standard-formats.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import { importFacility } from './import-facility.ts';
import { type GatewayPlace, type GatewayProcess, type OpenGateway, startGateway } from './running-gateway.ts';

export type HouseDoor = 'front' | 'back' | 'yard';
export const houseDoors: readonly HouseDoor[] = ['front', 'back', 'yard'];
/** Where people present cards. */
export const houseReaders = ['front-reader', 'back-reader'] as const;
export type HouseReader = (typeof houseReaders)[number];

/** A card's credential is `card-<number>`. `coin` may be used six times; `stranger` is in no facility. */
export const cards = { aiko: 1, mei: 2, guest: 3, revoked: 4, coin: 5, ghost: 6, stranger: 999 } as const;
export const coinUsesMax = 6;
export const strikeMs = 300;

export interface TestHouse extends GatewayPlace {
  readonly dir: string;
  readonly dataDir: string;
  readonly runDir: string;
  readonly site: RunningSite;
  start(): GatewayProcess;
  /** Puts the house's own facility in force, or another one. */
  import(open: OpenGateway, facility?: object): Promise<void>;
  present(reader: HouseReader, card: number): Promise<void>;
  record(door: HouseDoor): readonly StrikeEvent[];
  close(): Promise<void>;
}

export interface HouseOptions {
  /** Default: a folder in the house's own. */
  readonly dataDir?: string;
  /** Changes the gateway's configuration before it is written. */
  readonly configure?: (config: HouseConfig) => object;
}

export interface HouseConfig {
  readonly dataDir: string;
  readonly runDir: string;
  readonly journal: { readonly budgetMiB: number };
  readonly clock: { readonly ntp: string };
  readonly lines: readonly { readonly id: string; readonly tcp: string }[];
}

export async function openHouse(options: HouseOptions = {}): Promise<TestHouse> {
  const dir = mkdtempSync(join(tmpdir(), 'kannuki-house-'));
  const dataDir = options.dataDir ?? join(dir, 'data');
  mkdirSync(join(dir, 'keys'));
  const checked = checkSite(houseSite);
  if (checked.kind !== 'site') throw new Error(checked.issues.join('\n'));
  const siteDir = join(dir, 'site');
  const site = await openSite({ site: checked.site, stateDir: siteDir, baseDir: dir });
  const config = { ...houseConfig(dir, site), dataDir };
  const configFile = join(dir, 'gateway.yaml');
  writeFileSync(configFile, stringify(options.configure?.(config) ?? config));
  const runDir = join(dir, 'run');
  const place = {
    configFile,
    adminSocket: join(runDir, 'admin.sock'),
    logFile: join(dir, 'gateway.log'),
    compileCache: join(dir, 'compiled'),
  };
  const started: GatewayProcess[] = [];
  return {
    ...place,
    dir,
    dataDir,
    runDir,
    site,
    start: () => {
      const gateway = startGateway(place);
      started.push(gateway);
      return gateway;
    },
    import: async ({ client }, facility = houseFacility()) => {
      const file = join(dir, 'facility.json');
      writeFileSync(file, JSON.stringify(facility));
      await importFacility(client, file);
    },
    present: async (reader, card) => {
      const what = { bits: cardBits(card) };
      const call = siteCalls.present.parse({ reader, what, patienceMs: 1_000 });
      await site.perform({ verb: 'present', arguments: call });
    },
    record: (door) => readStrikeRecord(siteDir, door),
    close: async () => {
      await Promise.all(started.map((gateway) => gateway.kill()));
      await site.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What happened, in short: for a failure to say. */
export const seenKinds = (seen: readonly Entry[]): string => seen.map(({ kind }) => kind).join(', ') || 'nothing';

/** Waits until every device has come on line in this life, and every lock is known. */
export async function houseAtRest({ seen, doors }: OpenGateway): Promise<void> {
  const arrived = () => {
    const start = seen.findLastIndex(({ kind }) => kind === 'gateway.started');
    const online = seen.slice(start + 1).filter(({ kind }) => kind === 'device.online');
    return new Set(online.map(({ body }) => body['device'])).size;
  };
  await waitUntil('every device to be on line', () => arrived() === houseSite.peripherals.length, 60_000);
  await waitUntil('every lock to be known', () => houseDoors.every((door) => isKnown(doors.get(door)?.state)), 60_000);
}

const isKnown = (state: string | undefined): boolean =>
  state !== undefined && state !== 'unknown' && state !== 'securing';

export function cardBits(number: number): string {
  const card = encodeCard(h10301, { facility: 7, number });
  if (card === undefined) throw new Error(`no card ${number}`);
  const bits = [...card.bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.slice(0, card.bitCount);
}

const device = (index: number) => ({ key: { hex: index.toString(16).padStart(32, '5') }, identity: { serial: index } });
const board = { heads: 0, inputs: 2, outputs: 2 };

const houseSite: SiteInput = {
  name: 'Test house',
  lines: ['a', 'b'].map((id) => ({ id, wire: { port: 0 }, baud: 115_200, turnaroundMs: 1 })),
  peripherals: [
    { id: 'front-reader', line: 'a', address: 0, ...device(1) },
    { id: 'front-board', line: 'a', address: 1, ...device(2), ...board },
    { id: 'back-reader', line: 'b', address: 0, ...device(3) },
    { id: 'back-board', line: 'b', address: 1, ...device(4), ...board },
  ],
  doors: [
    {
      id: 'front',
      name: 'Front',
      strike: { peripheral: 'front-board', output: 0 },
      contact: { peripheral: 'front-board', input: 0 },
      readers: ['front-reader'],
      opensAfterMs: 20,
      closesAfterMs: 80,
    },
    { id: 'yard', name: 'Yard', strike: { peripheral: 'front-board', output: 1 } },
    {
      id: 'back',
      name: 'Back',
      strike: { peripheral: 'back-board', output: 0, release: 'de-energise' },
      readers: ['back-reader'],
    },
  ],
};

function houseConfig(dir: string, site: RunningSite): HouseConfig {
  const lines = houseSite.lines.map(({ id, baud }) => {
    const devices = houseSite.peripherals.filter(({ line }) => line === id);
    return {
      id,
      tcp: `127.0.0.1:${[...site.ports].find(([line]) => line === id)?.[1]}`,
      baud,
      devices: devices.map((peripheral) => {
        const keyFile = join('keys', peripheral.id);
        const hex = typeof peripheral.key === 'object' && 'hex' in peripheral.key ? peripheral.key.hex : '';
        writeFileSync(join(dir, keyFile), hex, { mode: 0o600 });
        return { id: peripheral.id, address: peripheral.address, keyFile };
      }),
    };
  });
  return { dataDir: 'data', runDir: 'run', journal: { budgetMiB: 64 }, clock: { ntp: 'assume' }, lines };
}

export interface FacilityOptions {
  readonly name?: string;
  /** That many more credentials that open nothing; their cards are numbered from `firstExtraCard`. */
  readonly extra?: number;
  readonly isWithoutMei?: boolean;
}

export const firstExtraCard = 1_000;

export function houseFacility({ name = 'Test house', extra = 0, isWithoutMei = false }: FacilityOptions = {}): object {
  const all = ['aiko', 'mei', 'guest', 'revoked', 'coin', 'ghost'] as const;
  const people = all.filter((id) => id !== 'mei' || !isWithoutMei);
  const card = (number: number) => ({ format: 'H10301', facility: 7, number });
  const others = Array.from({ length: extra }, (_, index) => firstExtraCard + index);
  return {
    facility: { id: 'house', name, zone: 'Asia/Tokyo' },
    doors: [
      {
        id: 'front',
        name: 'Front',
        lock: { device: 'front-board', output: 0 },
        contact: { device: 'front-board', input: 0 },
        strikeMs,
        debounceMs: 0,
      },
      { id: 'yard', name: 'Yard', lock: { device: 'front-board', output: 1 }, strikeMs },
      { id: 'back', name: 'Back', lock: { device: 'back-board', output: 0, release: 'de-energise' }, strikeMs },
    ],
    readers: [
      { id: 'front-reader', name: 'Front reader', door: 'front', device: 'front-reader' },
      { id: 'back-reader', name: 'Back reader', door: 'back', device: 'back-reader' },
    ],
    holders: [...people, 'others'].map((id) => ({ id, name: id })),
    credentials: [
      ...people.map((id) => ({
        id: `card-${cards[id]}`,
        holder: id,
        card: card(cards[id]),
        ...(id === 'coin' ? { usesMax: coinUsesMax } : {}),
        ...(id === 'revoked' ? { status: 'revoked' } : {}),
      })),
      ...others.map((number) => ({ id: `card-${number}`, holder: 'others', card: card(number) })),
    ],
    grants: [
      {
        id: 'house',
        credentials: people.filter((id) => id !== 'guest').map((id) => `card-${cards[id]}`),
        doors: ['front', 'back', 'yard'],
      },
    ],
  };
}
