/** Finds the command, parses what it was given, and turns what it throws into a line and an exit code. */
import { parseArgs } from 'node:util';
import { codeRemedy, codeText, isCode, type Language } from '#shared/code.ts';
import { printable } from '#shared/printable.ts';
import { readEnvironment } from '../environment.ts';
import { type Call, type Command, commonOptions, type Terminal, UsageError } from './command.ts';
import { words } from './words.ts';

type Load = () => Promise<{ readonly command: Command }>;

const commands = {
  run: () => import('./run.ts'),
  migrate: () => import('./migrate.ts'),
  'create-owner': () => import('./create-owner.ts'),
  'enroll-code': () => import('./enroll-code.ts'),
  gateways: () => import('./gateways.ts'),
  'verify-audit': () => import('./verify-audit.ts'),
  doctor: () => import('./doctor.ts'),
} as const satisfies Record<string, Load>;

const isCommand = (name: string): name is keyof typeof commands => Object.hasOwn(commands, name);

/** @param terminal the process's own, unless told otherwise. @returns the exit code. */
export async function runCommand(args: readonly string[], terminal: Terminal = openTerminal()): Promise<number> {
  const [name = 'help', ...rest] = args;
  if (!isCommand(name)) return showHelp(name, terminal);
  const { command }: { readonly command: Command } = await commands[name]();
  let spoken = terminal;
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: { ...commonOptions, ...command.options },
      allowPositionals: true,
    });
    spoken = withLanguage(terminal, values.language);
    if (values.help) {
      spoken.out(`kannuki-cloud ${name}: ${words[spoken.language].summaries[name]}\n\n${command.usage}`);
      return 0;
    }
    const spare = positionals[command.wordsMax];
    if (spare !== undefined) throw new UsageError(`"${spare}" is one word too many`);
    return await command.run({ words: positionals, flags: values as Call['flags'], terminal: spoken });
  } catch (error) {
    return report(error, command, spoken);
  }
}

function report(error: unknown, command: Command, terminal: Terminal): number {
  if (!(error instanceof Error)) throw error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === undefined) throw error;
  const isUsage = error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS');
  if (isUsage) terminal.err(`${error.message}\n\n${command.usage}`);
  else for (const line of faultLines(code, error.message, terminal.language)) terminal.err(line);
  return isUsage ? 2 : 1;
}

/** A code of the registry is told in its own sentence, with the detail and what can be done about it. */
function faultLines(code: string, message: string, language: Language): readonly string[] {
  const detail = message.trimEnd().split('\n').map(printable);
  if (isCode(code)) return [`${codeText(code, language)} [${code}]`, ...detail, codeRemedy(code, language)];
  const [first, ...more] = detail;
  return [`${first} [${code}]`, ...more];
}

function showHelp(name: string, terminal: Terminal): number {
  const isAsked = ['help', '--help', '-h'].includes(name);
  const { summaries, help, unknown } = words[terminal.language];
  const list = Object.entries(summaries).map(([word, summary]) => `  ${word.padEnd(14)} ${summary}`);
  const text = ['kannuki-cloud <command> [options]', '', ...list, '', help].join('\n');
  if (isAsked) terminal.out(text);
  else terminal.err(`${unknown(printable(name))}\n\n${text}`);
  return isAsked ? 0 : 2;
}

function openTerminal(): Terminal {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    language: readEnvironment().language,
    signal: ended.signal,
  };
}

function withLanguage(terminal: Terminal, asked: unknown): Terminal {
  if (asked === undefined) return terminal;
  if (asked !== 'en' && asked !== 'ja') throw new UsageError(`--language must be en or ja, not "${String(asked)}"`);
  return { ...terminal, language: asked };
}
