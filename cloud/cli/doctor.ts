/** `doctor`: what an operator would ask, one line each, with a remedy. Works whether or not the cloud runs. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import { codeRemedy, codeText, isCode, type Language } from '#shared/code.ts';
import { type Command, show } from '#shared/command-line/command.ts';
import type { Config } from '../config.ts';
import { readEnvironment } from '../environment.ts';
import { checkSeals } from '../identity/check-seals.ts';
import { readCloudKey } from '../identity/cloud-key.ts';
import { createSealer } from '../identity/sealed-value.ts';
import { type OpenedDatabase, openDatabase } from '../open-database.ts';
import { configOf } from './command-config.ts';

interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly remedy: string;
}

const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail, remedy: '' });
const marks = { ok: '✓', warn: '!', fail: '✗' } as const;
const freeMin = 512 * 2 ** 20;
const askMs = 3_000;

export const command: Command = {
  usage: 'kannuki-cloud doctor [--json]        exit code 1 when something is broken',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    const config = configOf(call);
    const { language } = call.terminal;
    const findings = [checkDisk(config), ...(await checkKeyAndDatabase(config, language)), await checkServer(config)];
    show(call, findings, findings.map(lineOf));
    return findings.some(({ state }) => state === 'fail') ? 1 : 0;
  },
};

function lineOf({ check, state, detail, remedy }: Finding): string {
  const line = `${marks[state]} ${state.padEnd(4)} ${check}: ${detail}`;
  return remedy === '' ? line : `${line}\n         → ${remedy}`;
}

function checkDisk({ dataDir }: Config): Finding {
  let folder = dataDir;
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return { check: 'disk', state: 'fail', detail: `${folder} cannot be written`, remedy: 'give it to this user' };
  }
  const { bavail, bsize } = statfsSync(folder);
  const free = `${Math.floor((bavail * bsize) / 2 ** 20)} MiB free at ${folder}`;
  if (bavail * bsize >= freeMin) return ok('disk', free);
  return { check: 'disk', state: 'warn', detail: free, remedy: 'free some space' };
}

async function checkKeyAndDatabase(config: Config, language: Language): Promise<readonly Finding[]> {
  let cloudKey: Buffer;
  try {
    cloudKey = readCloudKey(config.keyFile);
  } catch (error) {
    return [broken('key file', error, language)];
  }
  const key = ok('key file', config.keyFile);
  try {
    const opened = await openDatabase({ config, cloudKey, databaseUrl: readEnvironment().databaseUrl });
    try {
      return [key, await checkVersion(opened), await sealFinding(opened, cloudKey, language)];
    } finally {
      await opened.close();
    }
  } catch (error) {
    return [key, broken('database', error, language)];
  }
}

/** A code of the registry says it best. What has no code is a bug. */
function broken(check: string, error: unknown, language: Language): Finding {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!isCode(code)) throw error;
  const detail = `${codeText(code, language)} [${code}]`;
  return { check, state: 'fail', detail, remedy: codeRemedy(code, language) };
}

async function checkVersion({ pools, migrated }: OpenedDatabase): Promise<Finding> {
  const found = await sql<{ version: string }>`select current_setting('server_version') as version`.execute(pools.app);
  return ok('database', `PostgreSQL ${found.rows[0]?.version}, schema ${migrated.version}`);
}

async function sealFinding({ pools }: OpenedDatabase, cloudKey: Uint8Array, language: Language): Promise<Finding> {
  try {
    const count = await checkSeals(pools, createSealer(cloudKey));
    if (count > 0) return ok('facilities', `${count}, whose keys open under the key file`);
    return { check: 'facilities', state: 'warn', detail: 'none yet', remedy: 'kannuki-cloud create-owner' };
  } catch (error) {
    return broken('facilities', error, language);
  }
}

async function checkServer({ listen }: Config): Promise<Finding> {
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  const url = `http://${host}:${listen.port}/ready`;
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(askMs) });
    if (status === 200) return ok('server', `ready at ${url}`);
    return { check: 'server', state: 'fail', detail: `${url} answers ${status}`, remedy: 'look at its log' };
  } catch {
    return { check: 'server', state: 'warn', detail: `${url} does not answer`, remedy: 'kannuki-cloud run' };
  }
}
