/** `door`: runs the door process until it is told to end. */

import type { Command } from '#shared/command-line/command.ts';
import { startJournalThread } from '../journal/journal-link.ts';
import { ownThreads } from '../threads.ts';

export const command: Command = {
  usage: 'kannuki-gateway door [--config FILE]',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    // It takes as long to begin as everything else does, which is loaded meanwhile.
    const journalThread = startJournalThread(ownThreads.journal);
    const { configOf } = await import('./gateway-call.ts');
    const config = configOf(call);
    const { createLogger } = await import('../system/logger.ts');
    const { runDoor } = await import('../run-door.ts');
    await runDoor(config, {
      log: createLogger('info'),
      threads: ownThreads,
      signal: call.terminal.signal,
      journalThread,
    });
    return 0;
  },
};
