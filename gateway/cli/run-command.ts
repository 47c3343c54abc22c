/** Finds the command, parses what it was given, and turns what it throws into a line and an exit code. */
import { parseArgs } from 'node:util';
import type { Language } from '#shared/code.ts';
import { environmentLanguage } from '../config.ts';
import { type Call, type Command, commonOptions, type Terminal, UsageError } from './command.ts';

interface Listed {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

const commands: Readonly<Record<string, Listed>> = {
  door: { summary: 'run the door process: devices, decisions, journal', load: () => import('./door.ts') },
  status: { summary: 'doors, devices, clock and storage at a glance', load: () => import('./status.ts') },
  events: { summary: 'what happened; --follow for what happens', load: () => import('./events.ts') },
  explain: { summary: 'why a request was decided so, or how one would be', load: () => import('./explain.ts') },
  import: { summary: 'put a facility in force from JSON or CSV files', load: () => import('./import.ts') },
  reads: { summary: 'unknown cards of the last minute, for enrolment', load: () => import('./reads.ts') },
  release: { summary: 'release a door once', load: () => import('./release.ts') },
  mode: { summary: 'set a door controlled, free or lockdown', load: () => import('./mode.ts') },
  'install-window': {
    summary: 'let a device be given a key, for a limited time',
    load: () => import('./install-window.ts'),
  },
  'accept-device': { summary: 'a device was exchanged on purpose', load: () => import('./accept-device.ts') },
  'clock-set': { summary: 'tell the gateway the time (±30 s)', load: () => import('./clock-set.ts') },
  'area-reset': {
    summary: 'forget where anti-passback believes a holder to be',
    load: () => import('./area-reset.ts'),
  },
  discover: { summary: 'find OSDP devices on a line', load: () => import('./discover.ts') },
  capture: { summary: 'watch a line, decoded and redacted', load: () => import('./capture.ts') },
  'verify-journal': { summary: 'prove that the history was not changed', load: () => import('./verify-journal.ts') },
  doctor: { summary: 'check everything an installer would ask', load: () => import('./doctor.ts') },
  simulate: { summary: 'run simulated readers, locks and doors', load: () => import('./simulate.ts') },
};

export async function runCommand(args: readonly string[]): Promise<number> {
  const [name = 'help', ...rest] = args;
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!listed) return showHelp(name);
  const { command } = await listed.load();
  const terminal = openTerminal();
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: { ...commonOptions, ...command.options },
      allowPositionals: true,
    });
    if (values.help) {
      terminal.out(`kannuki-gateway ${name}: ${listed.summary}\n\n${command.usage}`);
      return 0;
    }
    const call: Call = {
      words: positionals,
      flags: values as Call['flags'],
      terminal: withLanguage(terminal, values.language),
    };
    return await command.run(call);
  } catch (error) {
    return report(error, command, terminal);
  }
}

function report(error: unknown, command: Command, terminal: Terminal): number {
  if (!(error instanceof Error)) throw error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === undefined) throw error;
  const isUsage = error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS');
  terminal.err(isUsage ? `${error.message}\n\n${command.usage}` : `${error.message} [${code}]`);
  return isUsage ? 2 : 1;
}

function showHelp(name: string): number {
  const isAsked = ['help', '--help', '-h'].includes(name);
  const list = Object.entries(commands).map(([word, { summary }]) => `  ${word.padEnd(16)} ${summary}`);
  const text = [
    'kannuki-gateway <command> [options]',
    '',
    ...list,
    '',
    'Every command takes --config FILE, --language en|ja, --json where a program may read, and --help.',
  ];
  const stream = isAsked ? process.stdout : process.stderr;
  if (!isAsked) stream.write(`there is no command "${name}"\n\n`);
  stream.write(`${text.join('\n')}\n`);
  return isAsked ? 0 : 2;
}

function openTerminal(): Terminal {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') ended.abort();
  });
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    isTty: process.stdout.isTTY === true,
    language: environmentLanguage(),
    signal: ended.signal,
  };
}

function withLanguage(terminal: Terminal, asked: unknown): Terminal {
  if (asked === undefined) return terminal;
  if (asked !== 'en' && asked !== 'ja') throw new UsageError(`--language must be en or ja, not "${String(asked)}"`);
  return { ...terminal, language: asked satisfies Language };
}
