/** What the demonstration's commands take, and how they say that they cannot. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { environmentLanguage } from '#gateway/environment.ts';
import type { Language } from '#shared/code.ts';

/** Said on standard error as it stands; the process ends with 2. */
export class UsageProblem extends Error {}

export interface DemoArguments {
  readonly dir: string | undefined;
  readonly language: Language;
  readonly isJson: boolean;
  readonly words: readonly string[];
  readonly flags: { readonly [name: string]: string | boolean | undefined };
}

const signedNumber = /^[+-]\d+$/;

const common = {
  dir: { type: 'string' },
  language: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig;

/**
 * @param usage shown for `--help`, which ends the process.
 * @throws UsageProblem for an option that does not exist or a language that is not spoken.
 */
export function demoArguments(usage: string, extra: ParseArgsOptionsConfig = {}): DemoArguments {
  const { values, positionals } = parsed(usage, extra);
  if (values['help'] === true) {
    console.log(usage);
    process.exit(0);
  }
  const language = values['language'] ?? environmentLanguage();
  if (language !== 'en' && language !== 'ja')
    throw new UsageProblem(`--language is en or ja, not "${String(language)}"`);
  const dir = values['dir'];
  return {
    dir: typeof dir === 'string' ? dir : undefined,
    language,
    isJson: values['json'] === true,
    words: positionals,
    flags: values as DemoArguments['flags'],
  };
}

function parsed(usage: string, extra: ParseArgsOptionsConfig) {
  try {
    // A signed number is a value here, never an option.
    const given = process.argv.slice(2);
    const numbers = given.filter((word) => signedNumber.test(word));
    const args = given.filter((word) => !signedNumber.test(word));
    const { values, positionals } = parseArgs({ args, options: { ...common, ...extra }, allowPositionals: true });
    return { values, positionals: [...positionals, ...numbers] };
  } catch (error) {
    throw new UsageProblem(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`, { cause: error });
  }
}

/** Runs a command of the demonstration; what it throws by name is said plainly, the rest is a bug and crashes. */
export async function runDemoCommand(run: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isSaid = error instanceof UsageProblem || 'code' in error;
    if (!isSaid) throw error;
    console.error(error.message);
    process.exitCode = error instanceof UsageProblem ? 2 : 1;
  }
}
