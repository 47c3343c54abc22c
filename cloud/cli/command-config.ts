/** What a command of the cloud works on: the configuration its call names, and the database. */
import { type Call, textFlag } from '#shared/command-line/command.ts';
import { type Config, loadConfig } from '../config.ts';
import { readEnvironment } from '../environment.ts';
import { readCloudKey } from '../identity/cloud-key.ts';
import { type OpenedDatabase, openDatabase } from '../open-database.ts';

/** @throws ConfigError. */
export const configOf = (call: Call): Config => loadConfig(textFlag(call, 'config') ?? readEnvironment().configFile);

/**
 * The database of a cloud that exists already, beside a running one or without it.
 * @throws CloudKeyFault where there is no key yet, DatabaseFault.
 */
export async function withDatabase<Result>(
  call: Call,
  work: (opened: OpenedDatabase, cloudKey: Uint8Array) => Promise<Result>,
): Promise<Result> {
  const config = configOf(call);
  const cloudKey = readCloudKey(config.keyFile);
  const opened = await openDatabase({ config, cloudKey, databaseUrl: readEnvironment().databaseUrl });
  try {
    return await work(opened, cloudKey);
  } finally {
    await opened.close();
  }
}
