/** Finds the command, parses what it was given, and turns what it throws into lines and an exit code. */
import { parseArgs } from 'node:util';
import { codeRemedy, codeText, isCode, type Language } from '../code.ts';
import { printable } from '../printable.ts';
import { type Call, type Command, commonOptions, type Terminal, UsageError } from './command.ts';

export interface ListedCommand {
  readonly summary: Readonly<Record<Language, string>>;
  /** Loaded when it is called for: a start reads only what it runs. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

export interface Program {
  readonly name: string;
  readonly commands: Readonly<Record<string, ListedCommand>>;
}

const words = {
  en: {
    help: 'Every command takes --config FILE, --language en|ja, --json where a program may read, and --help.',
    unknown: (name: string) => `there is no command "${name}"`,
  },
  ja: {
    help: '共通のオプション: --config FILE、--language en|ja、--json(プログラム向け)、--help',
    unknown: (name: string) => `コマンド「${name}」はありません`,
  },
} as const;

/** @param args the words after the program's own name. @returns the exit code. */
export async function runProgram(program: Program, args: readonly string[], terminal: Terminal): Promise<number> {
  const [name = 'help', ...rest] = args;
  const listed = Object.hasOwn(program.commands, name) ? program.commands[name] : undefined;
  if (listed === undefined) return showHelp(program, name, terminal);
  const { command } = await listed.load();
  let spoken = terminal;
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: { ...commonOptions, ...command.options },
      allowPositionals: true,
    });
    spoken = withLanguage(terminal, values.language);
    if (values.help) {
      spoken.out(`${program.name} ${name}: ${listed.summary[spoken.language]}\n\n${command.usage}`);
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
  if (!isCode(code)) return [`${detail[0]} [${code}]`, ...detail.slice(1)];
  // What only repeats the code says nothing more.
  const more = detail.filter((line) => line !== '' && line !== codeText(code, 'en') && !line.includes(code));
  return [`${codeText(code, language)} [${code}]`, ...more, codeRemedy(code, language)];
}

function showHelp(program: Program, name: string, terminal: Terminal): number {
  const isAsked = ['help', '--help', '-h'].includes(name);
  const { language } = terminal;
  const longest = Math.max(...Object.keys(program.commands).map(({ length }) => length));
  const list = Object.entries(program.commands).map(
    ([word, { summary }]) => `  ${word.padEnd(longest)}  ${summary[language]}`,
  );
  const text = [`${program.name} <command> [options]`, '', ...list, '', words[language].help].join('\n');
  if (isAsked) terminal.out(text);
  else terminal.err(`${words[language].unknown(printable(name))}\n\n${text}`);
  return isAsked ? 0 : 2;
}

function withLanguage(terminal: Terminal, asked: unknown): Terminal {
  if (asked === undefined) return terminal;
  if (asked !== 'en' && asked !== 'ja') throw new UsageError(`--language must be en or ja, not "${String(asked)}"`);
  return { ...terminal, language: asked };
}
