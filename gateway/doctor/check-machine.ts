/** What the machine owes the gateway: folders, disk, keys, time. Looks, and changes nothing. */
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { readKernelSynchronization } from '../system/kernel-time.ts';
import { type About, type DoctorFinding, finding } from './finding.ts';
import { look } from './look.ts';

const mebibyte = 1024 * 1024;
/** Below this the journal will soon meet the end of the disk. */
const freeMiBMin = 256;

export async function checkMachine(config: Config, credentials: string | undefined): Promise<readonly DoctorFinding[]> {
  return [
    checkFolder(['data-folder'], config.dataDir),
    checkFolder(['run-folder'], config.runDir),
    checkSpace(config),
    checkMasterKey(config, credentials),
    finding(['tpm'], existsSync('/dev/tpmrm0') ? 'tpm-present' : 'tpm-absent', {}),
    finding(['time'], await timeSource(config), {}),
  ];
}

function checkFolder(about: About, path: string): DoctorFinding {
  if (!existsSync(path)) return finding(about, 'folder-absent', { path });
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return finding(about, 'folder-forbidden', { path });
  }
  const mode = statSync(path).mode & 0o777;
  const isExposed = about[0] === 'data-folder' && (mode & 0o077) !== 0;
  return finding(about, isExposed ? 'folder-exposed' : 'folder-fine', { path, mode: mode.toString(8) });
}

function checkSpace({ dataDir, journal }: Config): DoctorFinding {
  if (!existsSync(dataDir)) return finding(['disk-space'], 'space-unknown', {});
  const { bavail, bsize } = statfsSync(dataDir);
  const free = Math.floor((bavail * bsize) / mebibyte);
  const budget = journal.budgetMiB;
  if (free < freeMiBMin) return finding(['disk-space'], 'space-short', { free, least: freeMiBMin });
  return finding(['disk-space'], free < budget ? 'space-below-budget' : 'space-fine', { free, budget });
}

function checkMasterKey(config: Config, credentials: string | undefined): DoctorFinding {
  const about = ['master-key'] as const;
  const given = credentials === undefined ? undefined : join(credentials, 'kannuki-master-key');
  if (given !== undefined && existsSync(given)) return finding(about, 'master-key-given', {});
  const path = config.masterKeyFile ?? join(config.dataDir, 'master.key');
  const info = look(path);
  if (info === 'hidden') return finding(about, 'master-key-hidden', { path });
  if (info === 'absent' && hasData(config.dataDir))
    return finding(about, 'master-key-lost', { path, folder: config.dataDir });
  if (info === 'absent') return finding(about, 'master-key-not-made', { path });
  const mode = info.mode & 0o777;
  const code = (mode & 0o077) === 0 ? 'master-key-fine' : 'master-key-exposed';
  return finding(about, code, { path, mode: mode.toString(8) });
}

const hasData = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => name.includes('.db'));

async function timeSource({ clock }: Config) {
  if (clock.ntp === 'assume') return 'time-assumed';
  if (clock.ntp === 'none') return clock.rtc ? 'time-battery' : 'time-no-source';
  return `time-${await readKernelSynchronization()}` as const;
}
