/** `area-reset`: lets a holder whom anti-passback caught begin anew. */

import { type Command, UsageError } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { withGateway } from './gateway-call.ts';

const words = {
  en: (count: number) => `${count} forgotten`,
  ja: (count: number) => `${count} 件の現在地を消しました`,
};

export const command: Command = {
  usage: 'kannuki-gateway area-reset <holder|*> [--json]',
  options: {},
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [holder] = call.words;
      if (!holder) throw new UsageError('which holder?', '利用者を指定してください(全員は *)');
      const value = await client.call('area-reset', { holder: holder === '*' ? holder : identifier<'holder'>(holder) });
      const { forgotten } = value as { readonly forgotten: number };
      call.terminal.out(call.flags['json'] ? JSON.stringify(value) : words[call.terminal.language](forgotten));
      return 0;
    }),
};
