/** `edge`: runs the edge process until it is told to end. */
import type { Command } from '#shared/command-line/command.ts';

export const command: Command = {
  usage: 'kannuki-gateway edge [--config FILE]',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    const { yieldProcessor } = await import('../system/yield-processor.ts');
    yieldProcessor();
    const { configOf } = await import('./gateway-call.ts');
    const config = configOf(call);
    const { createLogger } = await import('../system/logger.ts');
    const { runEdge } = await import('../compose-edge.ts');
    await runEdge(config, { log: createLogger('info'), signal: call.terminal.signal });
    return 0;
  },
};
