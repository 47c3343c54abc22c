/** `verify-journal`: proves that the history was not changed; names the first entry that is wrong. */

import { type Call, type Command, textFlag, UsageError } from '#shared/command-line/command.ts';
import { journalPath, journalsSetAside } from '../journal/open-stores.ts';
import { type JournalVerdict, verifyJournal, withAside } from '../journal/verify-journal.ts';
import { configOf, withGateway } from './gateway-call.ts';
import { verdictText } from './verdict-words.ts';

const keyPattern = /^[0-9a-f]{64}$/;
const verifyDeadlineMs = 600_000;

export const command: Command = {
  usage: `kannuki-gateway verify-journal [--json]                       of the running gateway
kannuki-gateway verify-journal --key HEX [--file FILE] [--json]   of a file, from its first public key alone`,
  options: { key: { type: 'string' }, file: { type: 'string' } },
  wordsMax: 0,
  run: async (call) => {
    const verdict = textFlag(call, 'key') === undefined ? await ofGateway(call) : ofFile(call);
    if (call.flags['json']) call.terminal.out(JSON.stringify(verdict));
    else call.terminal.out(verdictText(verdict, call.terminal.language));
    return verdict.kind === 'whole' && verdict.beginsAnew === undefined ? 0 : 1;
  },
};

const ofGateway = (call: Call): Promise<JournalVerdict> =>
  withGateway(
    call,
    async (client) => (await client.call('verify-journal', {}, { deadlineMs: verifyDeadlineMs })) as JournalVerdict,
  );

function ofFile(call: Call): JournalVerdict {
  const key = textFlag(call, 'key') ?? '';
  if (!keyPattern.test(key))
    throw new UsageError(
      '--key must be 64 hexadecimal digits: the journal’s first public key',
      '--key には履歴の最初の公開鍵を16進数 64桁で指定してください',
    );
  const path = textFlag(call, 'file') ?? journalPath(configOf(call).dataDir);
  return withAside(verifyJournal(path, Buffer.from(key, 'hex')), journalsSetAside(path));
}
