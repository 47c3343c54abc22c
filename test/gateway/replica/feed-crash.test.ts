/** A process that follows the feed is killed at any moment; the next one finds a state that was true, and goes on. */
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { ReplicaHead } from '#gateway/replica/replica-head.ts';
import { batchesPerSnapshot, digestAt } from '../../fakes/feed-story.ts';
import { openReader, temporaryFolder } from '../../fakes/replica-folder.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

const kills = process.env['KANNUKI_FULL'] === '1' ? 200 : 12;
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 2 ** 31);
const script = new URL('../../fakes/feed-follow-process.ts', import.meta.url).pathname;

interface Life {
  readonly said: readonly ReplicaHead[];
}

/** Kills it right after it has said so much, or in the middle of what comes next. */
async function liveAndDie(folder: string, keyFile: string, lines: number, afterMs: number): Promise<Life> {
  const child = spawn(process.execPath, [script, folder, keyFile], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  while (text.split('\n').length <= lines && child.exitCode === null) await pause(1);
  await pause(afterMs);
  child.kill('SIGKILL');
  await ended;
  expect(child.exitCode).toBeNull();
  const said = text.split('\n').slice(0, -1);
  return { said: said.map((line) => JSON.parse(line) as ReplicaHead) };
}

test(`stands where it said, or further, with exactly those rows, after each of ${kills} kills (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  const keyFile = join(temporaryFolder(), 'feed.key');
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'der' }));
  let acked: ReplicaHead | undefined;
  for (let kill = 0; kill < kills; kill += 1) {
    const lines = Math.floor(random() * (batchesPerSnapshot + 3));
    const { said } = await liveAndDie(folder, keyFile, lines, Math.floor(random() * 300));
    const last = said.at(-1) ?? acked;
    const reader = openReader(folder, last);
    const { state } = reader;
    if (state.kind === 'empty' && last === undefined) continue;
    if (state.kind !== 'live') throw new Error(`after kill ${kill}: ${JSON.stringify(state)}`);
    const { epoch, cursor, digest } = state.head;
    const isThere = epoch > (last?.epoch ?? 0) || (epoch === last?.epoch && cursor >= last.cursor);
    expect({ kill, isThere, digest }).toEqual({ kill, isThere: true, digest: digestAt(cursor) });
    acked = state.head;
    reader.close();
  }
}, 600_000);
