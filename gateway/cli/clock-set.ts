/** `clock-set`: a technician vouches for the time. */
import { type Command, UsageError } from '#shared/command-line/command.ts';
import { stateWord } from '../control/state-words.ts';
import { withGateway } from './gateway-call.ts';

const words = {
  en: (state: string, seconds: number) => `clock ${state}, ±${seconds} s`,
  ja: (state: string, seconds: number) => `時計: ${state}、±${seconds}秒`,
};

export const command: Command = {
  usage: 'kannuki-gateway clock-set <time with offset, such as 2026-01-31T09:00:00+09:00> [--json]',
  options: {},
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [at] = call.words;
      if (!at) throw new UsageError('which time?', '時刻を指定してください(例: 2026-01-31T09:00:00+09:00)');
      const value = await client.call('clock-set', { at });
      const { state, errorMs } = value as { readonly state: string; readonly errorMs: number };
      const { language } = call.terminal;
      const text = words[language](stateWord(state, language), Math.ceil(errorMs / 1000));
      call.terminal.out(call.flags['json'] ? JSON.stringify(value) : text);
      return 0;
    }),
};
