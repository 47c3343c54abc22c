/** What the machine owes the gateway: folders, disk, keys, time. Looks, and changes nothing. */
import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { readKernelSynchronization } from '../system/kernel-time.ts';
import { asGateway, broken, type DoctorFinding, fine, risky } from './finding.ts';
import { look } from './look.ts';

const mebibyte = 1024 * 1024;
/** Below this the journal will soon meet the end of the disk. */
const freeMiBMin = 256;

export async function checkMachine(config: Config, credentials: string | undefined): Promise<readonly DoctorFinding[]> {
  return [
    checkFolder('data folder', config.dataDir),
    checkFolder('control sockets', config.runDir),
    checkSpace(config),
    checkMasterKey(config, credentials),
    checkTpm(),
    await checkTime(config),
  ];
}

function checkFolder(check: string, path: string): DoctorFinding {
  if (!existsSync(path))
    return risky(check, `${path} does not exist`, 'the gateway makes it when it starts, if it may');
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return broken(check, `${path} may not be written`, `give the gateway's user rights to ${path}`);
  }
  const mode = statSync(path).mode & 0o777;
  const open = check === 'data folder' && (mode & 0o077) !== 0;
  return open
    ? risky(check, `${path} has mode ${mode.toString(8)}`, `chmod 700 ${path}`)
    : fine(check, `${path}, mode ${mode.toString(8)}`);
}

function checkSpace(config: Config): DoctorFinding {
  if (!existsSync(config.dataDir)) return risky('disk space', 'no data folder yet', '');
  const { bavail, bsize } = statfsSync(config.dataDir);
  const freeMiB = Math.floor((bavail * bsize) / mebibyte);
  const text = `${freeMiB} MiB free, journal may take ${config.journal.budgetMiB} MiB`;
  if (freeMiB < freeMiBMin) {
    const short = `${freeMiB} MiB free; below ${freeMiBMin} MiB journal and imports may soon find no room`;
    return broken('disk space', short, 'free some space');
  }
  return freeMiB < config.journal.budgetMiB
    ? risky('disk space', text, 'lower journal.budgetMiB, or add space')
    : fine('disk space', text);
}

function checkMasterKey(config: Config, credentials: string | undefined): DoctorFinding {
  const given = credentials === undefined ? undefined : join(credentials, 'kannuki-master-key');
  if (given !== undefined && existsSync(given)) return fine('master key', 'given by systemd');
  const path = config.masterKeyFile ?? join(config.dataDir, 'master.key');
  const info = look(path);
  if (info === 'hidden') return risky('master key', `${path} may not be looked at`, asGateway);
  if (info === 'absent' && hasData(config.dataDir))
    return broken(
      'master key',
      `${path} does not exist, and ${config.dataDir} holds data that only it opens`,
      'put the key of this gateway back',
    );
  if (info === 'absent')
    return risky('master key', `${path} does not exist`, 'it is made at the first start with an empty data folder');
  const mode = info.mode & 0o777;
  return (mode & 0o077) === 0
    ? fine('master key', `${path}, mode ${mode.toString(8)}`)
    : broken('master key', `${path} can be read by others (mode ${mode.toString(8)})`, `chmod 400 ${path}`);
}

const hasData = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => name.includes('.db'));

function checkTpm(): DoctorFinding {
  return existsSync('/dev/tpmrm0')
    ? fine('TPM', 'present')
    : risky(
        'TPM',
        'none: whoever steals the disk has the keys',
        'if the box is stolen, change the reader keys and import anew',
      );
}

async function checkTime(config: Config): Promise<DoctorFinding> {
  if (config.clock.ntp === 'assume')
    return risky(
      'time',
      'the configuration assumes that the clock is right',
      'set clock.ntp to kernel outside demonstrations',
    );
  if (config.clock.ntp === 'none')
    return config.clock.rtc
      ? fine('time', 'from the battery-backed clock')
      : risky(
          'time',
          'no source is configured',
          'use clock.ntp: kernel, or kannuki-gateway clock-set after each start',
        );
  const state = await readKernelSynchronization();
  if (state === 'synchronized') return fine('time', 'the kernel’s clock is synchronized');
  const detail =
    state === 'unknown' ? 'nobody could say whether the clock is synchronized' : 'the clock is not synchronized';
  return risky('time', detail, 'enable systemd-timesyncd or chrony; until then what depends on the time is refused');
}
