/** A whole door process inside the test, over a real line to readers of the test, asked through its own sockets. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runCommand } from '#gateway/cli/run-command.ts';
import { loadConfig } from '#gateway/config.ts';
import { type ControlClient, ControlLost, connectControl } from '#gateway/control/edge-side.ts';
import { ControlRefusal } from '#gateway/control/messages.ts';
import type { StatusReport } from '#gateway/control/replies.ts';
import type { Entry } from '#gateway/journal/entry.ts';
import { runDoor } from '#gateway/run-door.ts';
import type { Logger } from '#gateway/system/logger.ts';
import { ownThreads } from '#gateway/threads.ts';
import { encodeCard } from '#protocol/wiegand/encode-card.ts';
import { h10304 } from '#protocol/wiegand/standard-formats.ts';
import { OsdpPeer } from '../../fakes/osdp-peer.ts';
import { waitUntil } from '../../fakes/wait-until.ts';

export const facilityCode = 52_013;
export const numbers = { aiko: 481_301, mei: 481_302, once: 481_303, gone: 481_304, stranger: 481_305 } as const;
export const holderName = 'Philippa Threlkeld';
export const aikoPin = '91827364';

/** Two doors of one line: `hall`, and `safe`, which asks for a PIN. */
export function smallFacility(name = 'Small'): object {
  const people = ['aiko', 'mei', 'once', 'gone'] as const;
  return {
    facility: { id: 'small', name, zone: 'Asia/Tokyo' },
    doors: [
      { id: 'hall', name: 'Hall', lock: { device: 'hall-reader', output: 0 }, strikeMs: 200 },
      { id: 'safe', name: 'Safe', lock: { device: 'safe-reader', output: 0 }, strikeMs: 200, secondFactor: 'always' },
    ],
    readers: ['hall', 'safe'].map((door) => ({ id: door, name: `At ${door}`, door, device: `${door}-reader` })),
    holders: people.map((id) => ({ id, name: id === 'aiko' ? holderName : `Holder ${id}` })),
    credentials: [
      ...people.map((id) => ({
        id: `${id}-card`,
        holder: id,
        card: { format: 'H10304', facility: facilityCode, number: numbers[id] },
        ...(id === 'once' ? { usesMax: 1 } : {}),
        ...(id === 'gone' ? { status: 'revoked' } : {}),
      })),
      { id: 'aiko-pin', holder: 'aiko', pin: aikoPin },
    ],
    grants: [{ id: 'all', credentials: people.map((id) => `${id}-card`), doors: ['hall', 'safe'] }],
  };
}

/** As `smallFacility`, with so many PINs that hashing them takes a while: each is only a second factor. */
export function facilityWithPins(count: number): object {
  const small = smallFacility('Many') as { readonly credentials: readonly object[] };
  const pins = Array.from({ length: count }, (_, index) => ({
    id: `pin-${index}`,
    holder: 'mei',
    pin: String(700_000 + index),
  }));
  return { ...small, credentials: [...small.credentials, ...pins] };
}

export function bitsOf(person: keyof typeof numbers): { readonly bitCount: number; readonly bytes: Uint8Array } {
  const card = encodeCard(h10304, { facility: facilityCode, number: numbers[person] });
  if (card === undefined) throw new Error(`no card for ${person}`);
  return card;
}

export interface Spoken {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunningDoor {
  readonly dir: string;
  readonly dataDir: string;
  readonly configFile: string;
  readonly peer: OsdpPeer;
  readonly log: readonly string[];
  /** Its admin socket. */
  readonly client: ControlClient;
  status(): Promise<StatusReport>;
  entries(): Promise<readonly Entry[]>;
  swipe(door: 'hall' | 'safe', person: keyof typeof numbers): void;
  type(door: 'hall' | 'safe', keys: string): void;
  /** The decision of the next request after `act`. */
  decided(act: () => void): Promise<Entry>;
  /** A command of the command line, run here. */
  command(...words: readonly string[]): Promise<Spoken>;
  /** Ends the process's part. The folder stays until `remove`. */
  stop(): Promise<void>;
  remove(): Promise<void>;
}

export const addressOf = { hall: 0, safe: 1 } as const;

/**
 * @param former where one has run before: its data is taken up again.
 * @returns when it answers; its devices may still be arriving.
 */
export async function openDoor(former?: { readonly dir: string }): Promise<RunningDoor> {
  const dir = former?.dir ?? mkdtempSync(join(tmpdir(), 'kannuki-door-'));
  const peer = new OsdpPeer([{ address: 0 }, { address: 1 }]);
  const port = await peer.listen();
  const configFile = join(dir, 'gateway.yaml');
  writeFileSync(configFile, configText(port));
  const ended = new AbortController();
  const log: string[] = [];
  const write = (...parts: readonly unknown[]) => void log.push(parts.map(textOf).join(' '));
  const logger = { debug: write, info: write, warn: write, error: write, fatal: write } as Logger;
  const run = runDoor(loadConfig(configFile), { log: logger, threads: ownThreads, signal: ended.signal });
  const client = await openClient(join(dir, 'run', 'admin.sock'), run);
  const status = async () => (await client.call('status', {})) as StatusReport;
  const entries = async () => {
    const views = (await client.call('events', { newest: 1_000 })) as readonly { readonly entry: Entry }[];
    return views.map(({ entry }) => entry);
  };
  const stop = async () => {
    client.close();
    ended.abort();
    await run;
    await peer.detach();
  };
  return {
    dir,
    dataDir: join(dir, 'data'),
    configFile,
    peer,
    log,
    client,
    status,
    entries,
    swipe: (door, person) => {
      const { bitCount, bytes } = bitsOf(person);
      peer.swipe(addressOf[door], bitCount, bytes);
    },
    type: (door, keys) =>
      peer.present(addressOf[door], {
        kind: 'keys',
        reader: 0,
        keys: Uint8Array.from(keys, (key) => (key === '#' ? 0x0d : key.charCodeAt(0))),
      }),
    decided: async (act) => {
      const after = (await entries()).at(-1)?.seq ?? 0;
      act();
      for (;;) {
        const found = (await entries()).find(({ seq, kind }) => seq > after && decisionKinds.has(kind));
        if (found !== undefined) return found;
        await pause(10);
      }
    },
    command: (...words) => spoken([...words, '--config', configFile]),
    stop,
    remove: async () => {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const decisionKinds: ReadonlySet<string> = new Set(['access.granted', 'access.refused', 'access.challenged']);

/** Runs the command line in this process. */
export async function spoken(
  words: readonly string[],
  signal = new AbortController().signal,
  onErr: (line: string) => void = () => {},
): Promise<Spoken> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = {
    out: (line: string) => void out.push(line),
    err: (line: string) => {
      err.push(line);
      onErr(line);
    },
    isTty: false,
    language: 'en',
    signal,
  } as const;
  const code = await runCommand(words, terminal);
  return { code, out: out.join('\n'), err: err.join('\n') };
}

export async function importSmall(door: RunningDoor, facility: object = smallFacility()): Promise<Spoken> {
  const file = join(door.dir, 'facility.json');
  writeFileSync(file, JSON.stringify(facility));
  return await door.command('import', file);
}

export async function atRest({ status }: RunningDoor): Promise<void> {
  let isKnown = false;
  let isAsking = false;
  const ask = async () => {
    isAsking = true;
    const { doors, devices } = await status();
    isKnown = devices.every(({ state }) => state === 'online') && doors.every(({ state }) => state === 'secured');
    isAsking = false;
  };
  await waitUntil('doors and devices to be known', () => {
    if (!isAsking && !isKnown) void ask();
    return isKnown;
  });
}

const configText = (port: number): string => `dataDir: data
runDir: run
journal: { budgetMiB: 16 }
clock: { ntp: assume }
lines:
  - id: bus
    tcp: 127.0.0.1:${port}
    baud: 115200
    devices:
      - { id: hall-reader, address: 0, security: plain }
      - { id: safe-reader, address: 1, security: plain }
`;

async function openClient(path: string, run: Promise<void>): Promise<ControlClient> {
  let failure: unknown;
  run.catch((error: unknown) => {
    failure = error;
  });
  while (failure === undefined) {
    let client: ControlClient | undefined;
    try {
      client = await connectControl(path);
      await client.call('status', {});
      return client;
    } catch (error) {
      client?.close();
      if (!(error instanceof ControlLost || error instanceof ControlRefusal)) throw error;
      await pause(10);
    }
  }
  throw failure;
}

const textOf = (part: unknown): string =>
  typeof part === 'string'
    ? part
    : JSON.stringify(part, (_, value) => (value instanceof Error ? String(value) : value));
