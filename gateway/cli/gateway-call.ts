/** A command's way to the running gateway: its configuration says where, its sockets answer. */
import { join } from 'node:path';
import { type Call, textFlag } from '#shared/command-line/command.ts';
import { type Config, loadConfig } from '../config.ts';
import { type ControlClient, connectControl } from '../control/edge-side.ts';
import { defaultConfigFile } from '../environment.ts';

export function configOf(call: Call): Config {
  return loadConfig(textFlag(call, 'config') ?? defaultConfigFile());
}

/** Runs `work` with the admin socket and closes it afterwards. */
export async function withGateway<Value>(call: Call, work: (client: ControlClient) => Promise<Value>): Promise<Value> {
  const client = await connectControl(join(configOf(call).runDir, 'admin.sock'));
  const end = () => client.close();
  call.terminal.signal.addEventListener('abort', end, { once: true });
  try {
    return await work(client);
  } finally {
    call.terminal.signal.removeEventListener('abort', end);
    client.close();
  }
}
