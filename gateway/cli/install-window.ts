/** `install-window`: lets one device be given its key, for a limited time, on a line nobody else listens to. */

import { type Command, numberFlag, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { withGateway } from './gateway-call.ts';

const words = {
  en: (device: string, seconds: number) =>
    `${device} may be given a key for ${seconds} s; watch: kannuki-gateway events --follow`,
  ja: (device: string, seconds: number) =>
    `${device}: ${seconds}秒間、鍵を設定できます。経過は kannuki-gateway events --follow で見られます`,
};

export const command: Command = {
  usage: 'kannuki-gateway install-window <device> [--seconds 10…900]',
  options: { seconds: { type: 'string' } },
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [device] = call.words;
      if (!device) throw new UsageError('which device?', '機器を指定してください');
      const seconds = numberFlag(call, 'seconds', { min: 10, max: 900 }) ?? 120;
      await client.call('install-window', { device: identifier<'device'>(device), seconds });
      call.terminal.out(words[call.terminal.language](device, seconds));
      return 0;
    }),
};
