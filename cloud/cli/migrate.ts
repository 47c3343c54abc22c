/** `migrate`: brings the database to this version, and makes the key file of a new cloud where told so. */

import { type Command, show } from '#shared/command-line/command.ts';
import { readEnvironment } from '../environment.ts';
import { openDatabase } from '../open-database.ts';
import { openKey } from '../open-key.ts';
import { configOf } from './command-config.ts';
import { words } from './words.ts';

export const command: Command = {
  usage: [
    'kannuki-cloud migrate [--new-key] [--json]',
    '',
    '--new-key makes the key file of a new cloud whose database is not the embedded one. Copy it to every node.',
  ].join('\n'),
  options: { 'new-key': { type: 'boolean' } },
  wordsMax: 0,
  run: async (call) => {
    const config = configOf(call);
    const { databaseUrl } = readEnvironment();
    const cloudKey = openKey({ config, databaseUrl, isNew: call.flags['new-key'] === true });
    const opened = await openDatabase({ config, cloudKey, databaseUrl });
    const { version, applied } = opened.migrated;
    await opened.close();
    show(call, { version, applied }, [words[call.terminal.language].migrated(version, applied)]);
    return 0;
  },
};
