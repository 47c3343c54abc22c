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
    detail: '',
  },
  ja: {
    help: '共通のオプション: --config FILE、--language en|ja、--json(プログラム向け)、--help',
    unknown: (name: string) => `コマンド「${name}」はありません`,
    detail: '詳細: ',
  },
} as const;

/** @param args the words after the program's own name. @returns the exit code. */
export async function runProgram(program: Program, args: readonly string[], terminal: Terminal): Promise<number> {
  const [name = 'help', ...rest] = args;
  const listed = Object.hasOwn(program.commands, name) ? program.commands[name] : undefined;
  const languageAsked = askedLanguage(rest);
  const spoken = isLanguage(languageAsked) ? { ...terminal, language: languageAsked } : terminal;
  if (listed === undefined) return showHelp(program, name, spoken);
  const { command } = await listed.load();
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: { ...commonOptions, ...command.options },
      allowPositionals: true,
    });
    if (languageAsked !== undefined && !isLanguage(languageAsked)) throw strangeLanguage(languageAsked);
    if (values.help) {
      spoken.out(`${program.name} ${name}: ${listed.summary[spoken.language]}\n\n${command.usage}`);
      return 0;
    }
    const spare = positionals[command.wordsMax];
    if (spare !== undefined) throw new UsageError(`"${spare}" is one word too many`, `「${spare}」は余分です`);
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
  if (isUsage) terminal.err(`${usageText(error, code, terminal.language)}\n\n${command.usage}`);
  else for (const line of faultLines(code, error.message, terminal.language)) terminal.err(line);
  return isUsage ? 2 : 1;
}

const misused: Readonly<Record<string, string>> = {
  ERR_PARSE_ARGS_UNKNOWN_OPTION: '知らないオプションです',
  ERR_PARSE_ARGS_INVALID_OPTION_VALUE: 'オプションの値が正しくありません',
};

/** What Node says of an option is English and names it in quotes; in Japanese the name is kept. */
function usageText(error: Error, code: string, language: Language): string {
  if (error instanceof UsageError) return error.says[language];
  const said = language === 'ja' ? misused[code] : undefined;
  const [, name] = /'([^']+)'/.exec(error.message) ?? [];
  return said === undefined || name === undefined ? error.message : `${said}: ${name}`;
}

/** A code of the registry is told in its own sentence, with the detail and what can be done about it. */
function faultLines(code: string, message: string, language: Language): readonly string[] {
  const detail = message.trimEnd().split('\n').map(printable);
  if (!isCode(code)) return [`${detail[0]} [${code}]`, ...detail.slice(1)];
  // What only repeats the code says nothing more.
  const more = detail.filter((line) => line !== '' && line !== codeText(code, 'en') && !line.includes(code));
  const told = more.map((line, index) => (index === 0 ? words[language].detail + line : line));
  return [`${codeText(code, language)} [${code}]`, ...told, codeRemedy(code, language)];
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

/** Read before all else: what is wrong with the rest is told in it too. */
function askedLanguage(args: readonly string[]): string | undefined {
  const options = { language: commonOptions.language };
  const { values } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true });
  return typeof values.language === 'string' ? values.language : undefined;
}

const isLanguage = (asked: string | undefined): asked is Language => asked === 'en' || asked === 'ja';

const strangeLanguage = (asked: string): UsageError =>
  new UsageError(
    `--language must be en or ja, not "${asked}"`,
    `--language は en か ja です(「${asked}」は使えません)`,
  );
