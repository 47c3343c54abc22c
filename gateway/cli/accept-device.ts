/** `accept-device`: a device was exchanged on purpose; the next one at its place belongs there. */

import { type Command, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { withGateway } from './gateway-call.ts';

const words = {
  en: (device: string) =>
    `${device}: the next device that answers belongs here. It has no key yet: kannuki-gateway install-window ${device}`,
  ja: (device: string) =>
    `${device}: 次に応答した機器を登録します。鍵はまだありません: kannuki-gateway install-window ${device}`,
};

export const command: Command = {
  usage: 'kannuki-gateway accept-device <device>        then: kannuki-gateway install-window <device>',
  options: {},
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [device] = call.words;
      if (!device) throw new UsageError('which device?', '機器を指定してください');
      await client.call('accept-device', { device: identifier<'device'>(device) });
      call.terminal.out(words[call.terminal.language](device));
      return 0;
    }),
};
