/** `unenroll`: this gateway leaves its cloud. Its doors keep what they have until leases end, and imports work again. */
import type { Command } from '#shared/command-line/command.ts';
import { withGateway } from './gateway-call.ts';

const words = {
  en: 'This gateway belongs to no cloud any more. Revoke it there too.',
  ja: 'クラウドの登録を解除しました。クラウド側でも使用停止にしてください。',
};

export const command: Command = {
  usage: 'kannuki-gateway unenroll',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    await withGateway(call, (door) => door.call('unenrol', {}));
    call.terminal.out(words[call.terminal.language]);
    return 0;
  },
};
