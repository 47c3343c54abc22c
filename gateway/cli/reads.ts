/** `reads`: unknown cards of the last minute, as the bits to import them by. */

import type { Command } from '#shared/command-line/command.ts';
import type { UnknownRead } from '../control/replies.ts';
import { withGateway } from './gateway-call.ts';

const secondsOf = ({ ageMs }: UnknownRead): number => Math.round(ageMs / 1000);

const words = {
  en: {
    none: 'No unknown card was read in the last minute. Present one and ask again.',
    read: (read: UnknownRead) =>
      `${read.device} head ${read.head} · ${secondsOf(read)} s ago · ${read.bitCount} bits ${read.bits}`,
  },
  ja: {
    none: '直近1分間に、未登録のカードは読み取られていません。カードをかざして、もう一度実行してください。',
    read: (read: UnknownRead) =>
      `${read.device} 読取部 ${read.head} · ${secondsOf(read)}秒前 · ${read.bitCount} ビット ${read.bits}`,
  },
};

export const command: Command = {
  usage: 'kannuki-gateway reads [--json]',
  options: {},
  wordsMax: 0,
  run: (call) =>
    withGateway(call, async (client) => {
      const say = words[call.terminal.language];
      const reads = (await client.call('reads', {})) as readonly UnknownRead[];
      if (call.flags['json']) call.terminal.out(JSON.stringify(reads));
      else if (reads.length === 0) call.terminal.out(say.none);
      else for (const read of reads) call.terminal.out(say.read(read));
      return 0;
    }),
};
