/** The cloud's database, ready: the embedded server or the one that is named, migrated, with one pool for each role. */
import { readFileSync } from 'node:fs';
import { deriveHashKey } from '#shared/keyed-hash.ts';
import type { Config } from './config.ts';
import { startServer } from './database/embedded-server.ts';
import { loginUrl } from './database/login.ts';
import { type Migrated, migrate } from './database/migrate.ts';
import { type Database, openPool } from './database/pool.ts';
import { machines } from './machines.ts';

export interface OpenedDatabase {
  readonly pools: { readonly app: Database; readonly worker: Database; readonly gateway: Database };
  /** The connection string of a role's login. */
  readonly url: (role: 'app' | 'worker' | 'gateway') => string;
  readonly adminUrl: string;
  readonly migrated: Migrated;
  /** Closes the pools; stops the embedded server if it was started here. */
  close(): Promise<void>;
}

interface Source {
  readonly config: Config;
  readonly cloudKey: Uint8Array;
  /** DATABASE_URL, where the configuration names no file. */
  readonly databaseUrl: string | undefined;
}

/** @throws DatabaseFault; what was started before it is stopped. */
export async function openDatabase(source: Source): Promise<OpenedDatabase> {
  const server = await findServer(source);
  try {
    const { adminUrl } = server;
    const loginSecret = deriveHashKey(source.cloudKey, 'kannuki cloud database logins');
    const migrated = await migrate({ adminUrl, machines, loginSecret });
    const url = (role: 'app' | 'worker' | 'gateway') => loginUrl(adminUrl, role, loginSecret);
    const size = source.config.database.connections;
    const pool = (role: 'app' | 'worker' | 'gateway') => openPool({ url: url(role), size, name: `kannuki-${role}` });
    const pools = { app: pool('app'), worker: pool('worker'), gateway: pool('gateway') };
    return {
      pools,
      url,
      adminUrl,
      migrated,
      async close() {
        for (const open of Object.values(pools)) await open.destroy();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Where the embedded server keeps everything. */
export const embeddedFolder = (config: Config): string => config.database.embeddedDir;

interface FoundServer {
  readonly adminUrl: string;
  readonly stop: () => Promise<void>;
}

async function findServer({ config, databaseUrl }: Source): Promise<FoundServer> {
  const { urlFile, embeddedPort } = config.database;
  const named = urlFile === undefined ? databaseUrl : readFileSync(urlFile, 'utf8').trim();
  if (named !== undefined) return { adminUrl: named, stop: async () => undefined };
  const server = await startServer({ folder: embeddedFolder(config), port: embeddedPort });
  return { adminUrl: server.adminUrl, stop: async () => (server.isAdopted ? undefined : server.stop()) };
}
