/** `release`: makes one door passable once, as a granted card would. */

import { type Command, numberFlag, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { withGateway } from './gateway-call.ts';

const words = {
  en: (door: string) => `${door}: released; what follows: kannuki-gateway events`,
  ja: (door: string) => `${door}: 解錠しました。その後は kannuki-gateway events で見られます`,
};

export const command: Command = {
  usage: 'kannuki-gateway release <door> [--ms 200…600000] [--json]',
  options: { ms: { type: 'string' } },
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [door] = call.words;
      if (!door) throw new UsageError('which door?', '扉を指定してください');
      const ms = numberFlag(call, 'ms', { min: 200, max: 600_000 });
      const value = await client.call('release', {
        door: identifier<'door'>(door),
        ...(ms === undefined ? {} : { ms }),
      });
      if (call.flags['json']) call.terminal.out(JSON.stringify(value));
      else call.terminal.out(words[call.terminal.language](door));
      return 0;
    }),
};
