/** `explain`: why a request was decided as it was, or how one would be, rule by rule. */
import { createInterface } from 'node:readline';
import { codeRemedy, codeText, type Language } from '#shared/code.ts';
import { type Call, type Command, textFlag, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { printable } from '#shared/printable.ts';
import { factText, ruleName } from '../control/explain-words.ts';
import type { Arguments, NamedCredential } from '../control/messages.ts';
import type { ExplainReport, ExplainStep } from '../control/replies.ts';
import { padColumns } from './columns.ts';
import { facilityTime } from './facility-time.ts';
import { withGateway } from './gateway-call.ts';

export const command: Command = {
  usage: `kannuki-gateway explain <request id>              a past decision (ids are in events --json)
kannuki-gateway explain --door ID (--credential ID | --card BITS | --pin DIGITS) [--second-factor DIGITS] [--at TIME]
                                                  one that nobody asked for; nothing moves, nothing is recorded
        "-" in place of BITS or DIGITS reads them from standard input, so that they stand in no process list`,
  options: {
    door: { type: 'string' },
    credential: { type: 'string' },
    card: { type: 'string' },
    pin: { type: 'string' },
    'second-factor': { type: 'string' },
    at: { type: 'string' },
  },
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [request] = call.words;
      const report = (
        request === undefined
          ? await client.call('simulate', await simulation(call))
          : await client.call('explain', { request: identifier<'request'>(request) })
      ) as ExplainReport;
      if (call.flags['json']) call.terminal.out(JSON.stringify(report));
      else for (const line of explainLines(report, call)) call.terminal.out(line);
      return 0;
    }),
};

async function simulation(given: Call): Promise<Arguments<'simulate'>> {
  const call = await withSecrets(given);
  const door = textFlag(call, 'door');
  const presented = namedCredential(call);
  if (!door || !presented)
    throw new UsageError('name a request, or a door and a credential', '要求の ID か、扉と認証情報を指定してください');
  const secondFactor = textFlag(call, 'second-factor');
  const at = textFlag(call, 'at');
  return {
    door: identifier<'door'>(door),
    presented,
    ...(secondFactor === undefined ? {} : { secondFactor }),
    ...(at === undefined ? {} : { at }),
  };
}

const secretFlags = ['card', 'pin', 'second-factor'] as const;

/** Puts lines of standard input in the place of each `-`, in the order card, pin, second factor. */
async function withSecrets(call: Call): Promise<Call> {
  const asked = secretFlags.filter((name) => call.flags[name] === '-');
  if (asked.length === 0) return call;
  const flags = { ...call.flags };
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  for (const name of asked) {
    if (process.stdin.isTTY) call.terminal.err(`${name}?`);
    const { value, done } = await lines.next();
    if (done) throw new UsageError(`standard input has no line for --${name}`, `標準入力に --${name} の行がありません`);
    flags[name] = value.trim();
  }
  process.stdin.destroy();
  return { ...call, flags };
}

function namedCredential(call: Call): NamedCredential | undefined {
  const credential = textFlag(call, 'credential');
  if (credential !== undefined) return { credential: identifier<'credential'>(credential) };
  const bits = textFlag(call, 'card');
  if (bits !== undefined) return { card: { bits } };
  const pin = textFlag(call, 'pin');
  return pin === undefined ? undefined : { pin };
}

const marks = { passed: '✓', refused: '✗', 'not-reached': '·' } as const;

const factColumns = 22;

function explainLines({ code, facts, steps, zone }: ExplainReport, { terminal }: Call): readonly string[] {
  const { language } = terminal;
  const remedy = codeRemedy(code, language);
  const stated = facts.map((fact) => factText(fact, language, (at) => facilityTime(at, zone)));
  return [
    `${codeText(code, language)} [${code}]`,
    '',
    ...stated.map(([label, text]) => `  ${padColumns(label, factColumns)}${printable(text)}`),
    '',
    ...steps.map((step) => stepLine(step, language)),
    ...(remedy === '' ? [] : ['', remedy]),
  ];
}

function stepLine({ rank, rule, verdict, words }: ExplainStep, language: Language): string {
  const why = words === '' ? '' : ` · ${printable(words)}`;
  return `  ${marks[verdict]} ${String(rank).padStart(2)} ${ruleName(rule, language)} [${rule}]${why}`;
}
