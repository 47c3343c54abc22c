/**
 * A writer killed at any instant, again and again over the same files: nothing acknowledged is lost, the chain holds.
 *
 * `KANNUKI_FULL=1` kills 1 000 times instead of 50.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import { closeHere, createFolder, masterKey, openHere } from '../gateway/journal/journal-fixture.ts';

const kills = process.env['KANNUKI_FULL'] === '1' ? 1_000 : 50;
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 2 ** 31);
const writer = fileURLToPath(new URL('../crash/write-journal.ts', import.meta.url));

/** @param patience acknowledgements until it is killed; 0 kills it while it opens. @returns what it printed. */
async function runAndKill(folder: string, patience: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [writer, folder], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
    if (output.split('\n').length > patience) child.kill('SIGKILL');
  });
  const [code, signal] = await once(child, 'close');
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return output.split('\n').slice(0, -1);
}

it(`loses nothing acknowledged when killed ${kills} times (seed ${seed})`, async () => {
  const folder = createFolder();
  const random = seededRandom(seed);
  let lastSeq = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const name = `kill ${kill} of seed ${seed}`;
    const lines = await runAndKill(folder.path, Math.floor(random() * 60));
    const acknowledged = lines.map((line) => line.split(' ')).filter(([kind]) => kind === 'entries');
    lastSeq = Math.max(lastSeq, ...acknowledged.map(([, seq]) => Number(seq)));
    const stores = openHere(folder.path);
    expect(stores.report, name).toMatchObject({ journal: { kind: 'opened' }, site: { kind: 'opened' }, epoch: 1 });
    expect(stores.journal.position().tip % 2 ** 40, name).toBeGreaterThanOrEqual(lastSeq);
    closeHere(stores);
    const verdict = verifyJournal(join(folder.path, 'journal.db'), stores.report.firstKey, { masterKey });
    expect(verdict, name).toMatchObject({ kind: 'whole' });
  }
  expect(lastSeq).toBeGreaterThan(kills);
  folder.remove();
}, 1_800_000);
