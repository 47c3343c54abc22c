/**
 * The cloud's key, read; made only for a cloud that is new beyond doubt.
 *
 * A node that made its own key beside an existing database would lock the others out of it and read none of its secrets.
 */
import { existsSync } from 'node:fs';
import type { Config } from './config.ts';
import { openCloudKey, readCloudKey } from './identity/cloud-key.ts';
import { embeddedFolder } from './open-database.ts';

interface KeySource {
  readonly config: Config;
  readonly databaseUrl: string | undefined;
  /** The operator says that it is a new cloud. */
  readonly isNew?: boolean;
}

/** @throws CloudKeyFault MASTER_KEY_MISSING and others. */
export function openKey({ config, databaseUrl, isNew = false }: KeySource): Buffer {
  const isEmbedded = databaseUrl === undefined && config.database.urlFile === undefined;
  const isFresh = isEmbedded && !existsSync(embeddedFolder(config));
  return isFresh || isNew ? openCloudKey(config.keyFile) : readCloudKey(config.keyFile);
}
