/** `run`: serves until SIGINT or SIGTERM, then goes down gracefully. */

import type { Command } from '#shared/command-line/command.ts';
import { readEnvironment } from '../environment.ts';
import { runCloud } from '../run-cloud.ts';
import { configOf } from './command-config.ts';
import { words } from './words.ts';

export const command: Command = {
  usage: 'kannuki-cloud run [--config FILE]',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    const { signal, out, language } = call.terminal;
    const cloud = await runCloud(configOf(call), readEnvironment().databaseUrl);
    out(words[language].serving(cloud.url));
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    out(words[language].goingDown);
    await cloud.close();
    return 0;
  },
};
