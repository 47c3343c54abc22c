/** `capture`: what passes on a line, decoded and redacted, to the terminal or to a pcapng file. */
import { createWriteStream } from 'node:fs';
import { identifier } from '#shared/identifier.ts';
import { type Command, textFlag } from './command.ts';
import { withGateway } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway capture [--line ID] [--file TRAFFIC.pcapng]',
  options: { line: { type: 'string' }, file: { type: 'string' } },
  run: (call) =>
    withGateway(call, async (client) => {
      const file = textFlag(call, 'file');
      const line = textFlag(call, 'line');
      const output = file === undefined ? undefined : createWriteStream(file, { mode: 0o600 });
      let count = 0;
      const onItem = (item: unknown) => {
        count += 1;
        if (output) output.write(Buffer.from(String(item), 'base64'));
        else call.terminal.out(String(item));
      };
      const asked = {
        form: output ? 'pcapng' : 'text',
        ...(line === undefined ? {} : { line: identifier<'line'>(line) }),
      } as const;
      if (output) call.terminal.err(`capturing to ${file}; Ctrl-C ends`);
      await client.call('capture', asked, { onItem }).catch((error: Error) => {
        if (!call.terminal.signal.aborted) throw error;
      });
      if (output) {
        await new Promise((done) => output.end(done));
        call.terminal.err(`${count} blocks in ${file}`);
      }
      return 0;
    }),
};
