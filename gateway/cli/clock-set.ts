/** `clock-set`: a technician vouches for the time. */
import { type Command, UsageError } from '#shared/command-line/command.ts';
import { withGateway } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway clock-set <time with offset, such as 2026-01-31T09:00:00+09:00> [--json]',
  options: {},
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [at] = call.words;
      if (!at) throw new UsageError('which time?');
      const value = await client.call('clock-set', { at });
      const { state, errorMs } = value as { readonly state: string; readonly errorMs: number };
      const words = `clock ${state}, ±${Math.ceil(errorMs / 1000)} s`;
      call.terminal.out(call.flags['json'] ? JSON.stringify(value) : words);
      return 0;
    }),
};
