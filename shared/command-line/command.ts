/**
 * What every command of our programs is: a name, what it takes, and a run that answers with an exit code.
 *
 * Exit codes: 0 done · 1 refused or failed, said on standard error · 2 the call itself was wrong.
 */
import type { ParseArgsOptionsConfig } from 'node:util';
import type { Language } from '../code.ts';

export interface Terminal {
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  /** Whether a person looks at standard output; colour and redrawing only then. */
  readonly isTty: boolean;
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

/** The call was wrong: said in the caller's language with the usage, exit code 2. */
export class UsageError extends Error {
  readonly code = 'USAGE';
  readonly says: Readonly<Record<Language, string>>;

  constructor(en: string, ja: string) {
    super(en);
    this.says = { en, ja };
  }
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
  if (value === undefined || value.trim() === '')
    throw new UsageError(`--${name} is needed`, `--${name} を指定してください`);
  return value.trim();
}

/** @throws UsageError when the option is not a whole number in [min, max]. */
export function numberFlag(
  call: Call,
  name: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  const value = textFlag(call, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!Number.isInteger(number) || number < range.min || number > range.max) {
    throw new UsageError(
      `--${name} must be a whole number from ${range.min} to ${range.max}, not "${value}"`,
      `--${name} は ${range.min}〜${range.max} の整数で指定してください(「${value}」は使えません)`,
    );
  }
  return number;
}

/** One value: as JSON for programs, as lines for people. */
export function show(call: Call, value: unknown, lines: readonly string[]): void {
  if (call.flags['json']) call.terminal.out(JSON.stringify(value));
  else for (const line of lines) call.terminal.out(line);
}
