/** `release`: makes one door passable once, as a granted card would. */

import { type Command, numberFlag, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { withGateway } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway release <door> [--ms 200…600000] [--json]',
  options: { ms: { type: 'string' } },
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [door] = call.words;
      if (!door) throw new UsageError('which door?');
      const ms = numberFlag(call, 'ms', { min: 200, max: 600_000 });
      const value = await client.call('release', {
        door: identifier<'door'>(door),
        ...(ms === undefined ? {} : { ms }),
      });
      if (call.flags['json']) call.terminal.out(JSON.stringify(value));
      else call.terminal.out(`${door}: released; what follows: kannuki-gateway events`);
      return 0;
    }),
};
