/** `door`: runs the door process until it is told to end. */
import { runDoor } from '../run-door.ts';
import { createLogger } from '../system/logger.ts';
import { ownThreads } from '../threads.ts';
import type { Command } from './command.ts';
import { configOf } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway door [--config FILE]',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    await runDoor(configOf(call), { log: createLogger('info'), threads: ownThreads, signal: call.terminal.signal });
    return 0;
  },
};
