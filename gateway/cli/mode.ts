/** `mode`: how a door behaves until told otherwise. */
import { codeText, isCode } from '#shared/code.ts';
import { type Call, type Command, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { gateWord } from '../control/gate-marks.ts';
import { withGateway } from './gateway-call.ts';

const modes = ['controlled', 'free', 'lockdown'] as const;

interface Outcome {
  readonly requestId: string;
  readonly door: string;
  readonly answer: string;
}

export const command: Command = {
  usage:
    'kannuki-gateway mode <door|*> <controlled|free|lockdown> [--json]        exit code 1 unless every door took it',
  options: {},
  wordsMax: 2,
  run: (call) =>
    withGateway(call, async (client) => {
      const [door, asked] = call.words;
      const mode = modes.find((known) => known === asked);
      if (!door || !mode)
        throw new UsageError('which door, and which mode?', '扉とモード(controlled・free・lockdown)を指定してください');
      const outcomes = (await client.call('mode', {
        door: door === '*' ? door : identifier<'door'>(door),
        mode,
      })) as readonly Outcome[];
      if (call.flags['json']) call.terminal.out(JSON.stringify(outcomes));
      else for (const outcome of outcomes) tell(outcome, mode, call);
      return outcomes.every(isTaken) ? 0 : 1;
    }),
};

const words = {
  en: (mode: string, isAlready: boolean) => `${mode}${isAlready ? ' already' : ''}`,
  ja: (mode: string, isAlready: boolean) => `${gateWord(mode, 'ja')}${isAlready ? '(変更なし)' : 'にしました'}`,
};

const isTaken = ({ answer }: Outcome): boolean => answer === 'accepted' || answer === 'already-so';

function tell(outcome: Outcome, mode: string, { terminal }: Call): void {
  const { door, answer } = outcome;
  if (isTaken(outcome)) terminal.out(`${door}: ${words[terminal.language](mode, answer === 'already-so')}`);
  else terminal.err(`${door}: ${isCode(answer) ? codeText(answer, terminal.language) : answer} [${answer}]`);
}
