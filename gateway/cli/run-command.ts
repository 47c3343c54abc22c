/** Finds the command, parses what it was given, and turns what it throws into a line and an exit code. */
import { parseArgs } from 'node:util';
import { codeRemedy, codeText, isCode, type Language } from '#shared/code.ts';
import { printable } from '#shared/printable.ts';
import { environmentLanguage } from '../environment.ts';
import { type Call, type Command, commonOptions, type Terminal, UsageError } from './command.ts';

interface Listed {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

export const commands: Readonly<Record<string, Listed>> = {
  door: { summary: 'run the door process: devices, decisions, journal', load: () => import('./door.ts') },
  edge: { summary: 'run the edge process: the way to the cloud', load: () => import('./edge.ts') },
  run: { summary: 'run both, each begun again when it ends', load: () => import('./run.ts') },
  enroll: { summary: 'join a facility in the cloud with a code', load: () => import('./enroll.ts') },
  unenroll: { summary: 'leave the cloud', load: () => import('./unenroll.ts') },
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

/** @param terminal the process's own, unless told otherwise. @returns the exit code. */
export async function runCommand(args: readonly string[], terminal: Terminal = openTerminal()): Promise<number> {
  const [name = 'help', ...rest] = args;
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!listed) return showHelp(name, terminal);
  const { command } = await listed.load();
  let spoken = terminal;
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
    const spare = positionals[command.wordsMax];
    if (spare !== undefined) throw new UsageError(`"${spare}" is one word too many`);
    spoken = withLanguage(terminal, values.language);
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

/** A code of the registry is told in its own sentence, with what can be done about it. */
function faultLines(code: string, message: string, language: Language): readonly string[] {
  if (!isCode(code)) {
    const [first, ...more] = message.trimEnd().split('\n').map(printable);
    return [`${first} [${code}]`, ...more];
  }
  return [`${codeText(code, language)} [${code}]`, codeRemedy(code, language)];
}

function showHelp(name: string, terminal: Terminal): number {
  const isAsked = ['help', '--help', '-h'].includes(name);
  const list = Object.entries(commands).map(([word, { summary }]) => `  ${word.padEnd(16)} ${summary}`);
  const text = [
    'kannuki-gateway <command> [options]',
    '',
    ...list,
    '',
    'Every command takes --config FILE, --language en|ja, --json where a program may read, and --help.',
  ];
  if (isAsked) terminal.out(text.join('\n'));
  else terminal.err([`there is no command "${name}"`, '', ...text].join('\n'));
  return isAsked ? 0 : 2;
}

function openTerminal(): Terminal {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
  endWithParent(() => ended.abort());
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

/** Where another process of ours keeps this one, it does not go on alone. */
function endWithParent(end: () => void): void {
  if (process.channel === undefined) return;
  process.once('disconnect', end);
  // A command that is done ends, whoever is still at the other end.
  process.channel?.unref();
}

function withLanguage(terminal: Terminal, asked: unknown): Terminal {
  if (asked === undefined) return terminal;
  if (asked !== 'en' && asked !== 'ja') throw new UsageError(`--language must be en or ja, not "${String(asked)}"`);
  return { ...terminal, language: asked satisfies Language };
}
