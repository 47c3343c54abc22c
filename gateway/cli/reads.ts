/** `reads`: unknown cards of the last minute, as the bits to import them by. */

import type { Command } from '#shared/command-line/command.ts';
import type { UnknownRead } from '../control/replies.ts';
import { withGateway } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway reads [--json]',
  options: {},
  wordsMax: 0,
  run: (call) =>
    withGateway(call, async (client) => {
      const reads = (await client.call('reads', {})) as readonly UnknownRead[];
      if (call.flags['json']) call.terminal.out(JSON.stringify(reads));
      else if (reads.length === 0)
        call.terminal.out('No unknown card was read in the last minute. Present one and ask again.');
      else
        for (const read of reads)
          call.terminal.out(
            `${read.device} head ${read.head} · ${Math.round(read.ageMs / 1000)} s ago · ${read.bitCount} bits ${read.bits}`,
          );
      return 0;
    }),
};
