/**
 * Opens what outlives the process: master key, journal, site, and the state that agrees with the journal.
 *
 * A data folder that is empty gets its keys here, once; one that is not is never given new ones in passing. The folder is
 * held for this process alone from the first look into it to the end.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStateMemory, type StateMemory } from './access/state-memory.ts';
import type { Config } from './config.ts';
import { credentialsDirectory } from './environment.ts';
import { type OpenedJournal, type OpenJournalOptions, openJournal } from './journal/open-journal.ts';
import { createMasterKey, MasterKeyFault, readMasterKey } from './site/master-key.ts';
import { openSite, type Site } from './site/site-store.ts';
import { type FolderHold, holdFolder } from './store/hold-folder.ts';
import { keepFilesPrivate } from './store/private-files.ts';
import { withStoreFaults } from './store/store-fault.ts';

export interface History extends OpenedJournal {
  readonly masterKey: Uint8Array;
  readonly site: Site;
  readonly memory: StateMemory;
  /** Of the facility: every credential is found through it. */
  readonly lookupKey: Uint8Array;
  /** Of this box: every row carries its code. */
  readonly rowKey: Uint8Array;
  /** Of this boot of the machine, as the kernel names it. */
  readonly bootId: string;
  /** The journal first, then the folder. */
  close(): Promise<void>;
}

const keyBytes = 32;
const mebibyte = 1024 * 1024;

export type HistoryOptions = Pick<OpenJournalOptions, 'onChange' | 'thread'> & { readonly entry: URL };

/**
 * Nothing is left open or held by a try that failed.
 * @throws MasterKeyFault or StoreFault: both can go away, and the caller tries again. FolderInUse.
 */
export async function openHistory(config: Config, options: HistoryOptions): Promise<History> {
  const { dataDir } = config;
  let hold: FolderHold | undefined;
  try {
    withStoreFaults(dataDir, () => mkdirSync(dataDir, { recursive: true, mode: 0o700 }));
    hold = holdFolder(dataDir);
    withStoreFaults(dataDir, () => keepFilesPrivate(dataDir));
    return await openHeld(config, options, hold);
  } catch (error) {
    hold?.release();
    void options.thread?.terminate();
    throw error;
  }
}

async function openHeld(config: Config, options: HistoryOptions, hold: FolderHold): Promise<History> {
  const masterKey = withStoreFaults(config.dataDir, () => takeMasterKey(config));
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const opened = await openJournal({
    ...options,
    directory: config.dataDir,
    masterKey,
    bootId,
    budgetBytes: config.journal.budgetMiB * mebibyte,
    atBudget: config.journal.whenFull,
  });
  try {
    const [site, state] = await Promise.all([
      openSite({ store: opened.siteStore, masterKey }),
      opened.journal.loadState(),
    ]);
    const memory = createStateMemory(state);
    const lookupKey = await ownKey(site, 'lookup-key');
    const rowKey = await ownKey(site, 'row-key');
    const close = async () => {
      await opened.journal.close();
      hold.release();
    };
    return { ...opened, masterKey, site, memory, lookupKey, rowKey, bootId, close };
  } catch (error) {
    await opened.journal.close();
    throw error;
  }
}

function takeMasterKey(config: Config): Uint8Array {
  const file = config.masterKeyFile ?? join(config.dataDir, 'master.key');
  const place = { credentialsDirectory: credentialsDirectory(), file };
  try {
    return readMasterKey(place);
  } catch (error) {
    const isFirstStart =
      error instanceof MasterKeyFault && error.code === 'MASTER_KEY_MISSING' && isFresh(config.dataDir);
    if (isFirstStart) return createMasterKey(file, config.dataDir);
    throw error;
  }
}

const isFresh = (folder: string): boolean =>
  !existsSync(folder) || readdirSync(folder).every((name) => !name.includes('.db'));

async function ownKey(site: Site, name: string): Promise<Uint8Array> {
  const known = site.unsealKey(name);
  if (known !== undefined) return known;
  const fresh = new Uint8Array(randomBytes(keyBytes));
  await site.sealKey(name, fresh);
  return fresh;
}
