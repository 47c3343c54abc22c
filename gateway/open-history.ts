/**
 * Opens what outlives the process: master key, journal, site, and the state that agrees with the journal.
 *
 * A data folder that is empty gets its keys here, once; one that is not is never given new ones in passing.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStateMemory, type StateMemory } from './access/state-memory.ts';
import { type Config, credentialsDirectory } from './config.ts';
import { type OpenedJournal, type OpenJournalOptions, openJournal } from './journal/open-journal.ts';
import { createMasterKey, MasterKeyFault, readMasterKey } from './site/master-key.ts';
import { openSite, type Site } from './site/site-store.ts';

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
}

const keyBytes = 32;
const mebibyte = 1024 * 1024;

/** @throws MasterKeyFault or StoreFault; both can go away, and the caller tries again. */
export async function openHistory(
  config: Config,
  options: Pick<OpenJournalOptions, 'onChange'> & { readonly entry: URL },
): Promise<History> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const masterKey = takeMasterKey(config);
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const opened = await openJournal({
    ...options,
    directory: config.dataDir,
    masterKey,
    bootId,
    budgetBytes: config.journal.budgetMiB * mebibyte,
    atBudget: config.journal.whenFull,
  });
  const site = await openSite({ store: opened.siteStore, masterKey });
  const memory = createStateMemory(await opened.journal.loadState());
  const lookupKey = await ownKey(site, 'lookup-key');
  const rowKey = await ownKey(site, 'row-key');
  return { ...opened, masterKey, site, memory, lookupKey, rowKey, bootId };
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
