/** `mode`: how a door behaves until told otherwise. */
import { identifier } from '#shared/identifier.ts';
import { type Command, UsageError } from './command.ts';
import { withGateway } from './gateway-call.ts';

const modes = ['controlled', 'free', 'lockdown'] as const;

export const command: Command = {
  usage: 'kannuki-gateway mode <door|*> <controlled|free|lockdown>',
  options: {},
  run: (call) =>
    withGateway(call, async (client) => {
      const [door, asked] = call.words;
      const mode = modes.find((known) => known === asked);
      if (!door || !mode) throw new UsageError('which door, and which mode?');
      const value = await client.call('mode', { door: door === '*' ? door : identifier<'door'>(door), mode });
      call.terminal.out(JSON.stringify(value));
      return 0;
    }),
};
