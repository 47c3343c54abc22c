/** `area-reset`: lets a holder whom anti-passback caught begin anew. */

import { type Command, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { withGateway } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway area-reset <holder|*> [--json]',
  options: {},
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [holder] = call.words;
      if (!holder) throw new UsageError('which holder?');
      const value = await client.call('area-reset', { holder: holder === '*' ? holder : identifier<'holder'>(holder) });
      const { forgotten } = value as { readonly forgotten: number };
      call.terminal.out(call.flags['json'] ? JSON.stringify(value) : `${forgotten} forgotten`);
      return 0;
    }),
};
