/** `capture`: what passes on a line, decoded and redacted, to the terminal or to a pcapng file. */

import { type Command, textFlag } from '#shared/command-line/command.ts';
import { identifier } from '#shared/identifier.ts';
import { withGateway } from './gateway-call.ts';

const words = { en: 'capturing; Ctrl-C ends', ja: '記録しています。Ctrl-C で終わります' };

export const command: Command = {
  usage: `kannuki-gateway capture [--line ID]             as text, until Ctrl-C
kannuki-gateway capture [--line ID] --pcapng    into a file of the data folder, whose path is printed`,
  options: { line: { type: 'string' }, pcapng: { type: 'boolean' } },
  wordsMax: 0,
  run: (call) =>
    withGateway(call, async (client) => {
      const line = textFlag(call, 'line');
      const isFile = call.flags['pcapng'] === true;
      const onItem = (item: unknown) => call.terminal.out(String(item));
      const asked = { form: isFile ? 'pcapng' : 'text', ...(line && { line: identifier<'line'>(line) }) } as const;
      if (isFile) call.terminal.err(words[call.terminal.language]);
      await client.call('capture', asked, { onItem }).catch((error: Error) => {
        if (!call.terminal.signal.aborted) throw error;
      });
      return 0;
    }),
};
