/**
 * What every command is: a name, what it takes, and a run that answers with an exit code.
 *
 * Exit codes: 0 done · 1 refused or failed, said on standard error · 2 the call itself was wrong.
 */
import type { ParseArgsOptionsConfig } from 'node:util';
import type { Language } from '#shared/code.ts';
import { type Config, loadConfig } from '../config.ts';
import { readEnvironment } from '../environment.ts';
import { readCloudKey } from '../identity/cloud-key.ts';
import { type OpenedDatabase, openDatabase } from '../open-database.ts';

export interface Terminal {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly language: Language;
  /** Ends at SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
}

export interface Call {
  readonly words: readonly string[];
  readonly flags: { readonly [name: string]: string | boolean | undefined };
  readonly terminal: Terminal;
}

export interface Command {
  readonly usage: string;
  readonly options: ParseArgsOptionsConfig;
  /** Words it takes beside its options; more are a mistake. */
  readonly wordsMax: number;
  readonly run: (call: Call) => Promise<number>;
}

/** The call was wrong: said with the usage, exit code 2. */
export class UsageError extends Error {
  readonly code = 'USAGE';
}

/** Options that every command understands. */
export const commonOptions = {
  config: { type: 'string', short: 'c' },
  json: { type: 'boolean' },
  language: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig;

/** The value of a text option, or `undefined`. */
export function textFlag(call: Call, name: string): string | undefined {
  const value = call.flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws UsageError where the option is missing. */
export function neededFlag(call: Call, name: string): string {
  const value = textFlag(call, name);
  if (value === undefined || value.trim() === '') throw new UsageError(`--${name} is needed`);
  return value.trim();
}

/** @throws ConfigError. */
export const configOf = (call: Call): Config => loadConfig(textFlag(call, 'config') ?? readEnvironment().configFile);

/**
 * The database of a cloud that exists already, beside a running one or without it.
 * @throws CloudKeyFault where there is no key yet, DatabaseFault.
 */
export async function withDatabase<Result>(
  call: Call,
  work: (opened: OpenedDatabase, cloudKey: Uint8Array) => Promise<Result>,
): Promise<Result> {
  const config = configOf(call);
  const cloudKey = readCloudKey(config.keyFile);
  const opened = await openDatabase({ config, cloudKey, databaseUrl: readEnvironment().databaseUrl });
  try {
    return await work(opened, cloudKey);
  } finally {
    await opened.close();
  }
}

/** One value: as JSON for programs, as lines for people. */
export function show(call: Call, value: unknown, lines: readonly string[]): void {
  if (call.flags['json']) call.terminal.out(JSON.stringify(value));
  else for (const line of lines) call.terminal.out(line);
}
