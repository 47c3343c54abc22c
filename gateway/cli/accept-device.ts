/** `accept-device`: a device was exchanged on purpose; the next one at its place belongs there. */

import { type Command, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { withGateway } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway accept-device <device>        then: kannuki-gateway install-window <device>',
  options: {},
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [device] = call.words;
      if (!device) throw new UsageError('which device?');
      await client.call('accept-device', { device: identifier<'device'>(device) });
      call.terminal.out(
        `${device}: the next device that answers belongs here. It has no key yet: kannuki-gateway install-window ${device}`,
      );
      return 0;
    }),
};
