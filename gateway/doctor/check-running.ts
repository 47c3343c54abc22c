/** What a running gateway says of itself, as findings. */
import { codeRemedy, codeText, type Language } from '#shared/code.ts';
import type { DeviceStatus, StatusReport, StorageStatus } from '../control/replies.ts';
import { checkCloud } from './check-cloud.ts';
import { broken, type DoctorFinding, fine, risky } from './finding.ts';

export function checkRunning(report: StatusReport, language: Language): readonly DoctorFinding[] {
  return [
    fine('gateway', `runs, version ${report.version}`),
    report.facility
      ? fine('facility', `${report.facility.name} (${report.facility.zone})`)
      : risky('facility', 'none imported yet', 'kannuki-gateway import'),
    report.clock.state === 'untrusted'
      ? broken('clock', codeText('CLOCK_UNTRUSTED', language), codeRemedy('CLOCK_UNTRUSTED', language))
      : fine('clock', report.clock.state),
    report.journal.state === 'available'
      ? fine('journal', `${report.journal.lastSeq ?? 'unknown'} entries`)
      : broken(
          'journal',
          `${report.journal.state}: ${report.journal.detail}`,
          codeRemedy('JOURNAL_UNAVAILABLE', language),
        ),
    report.replica.state === 'live' || report.replica.state === 'empty'
      ? fine('replica', `epoch ${report.replica.epoch}`)
      : broken(
          'replica',
          `${report.replica.state}: ${report.replica.detail}`,
          codeRemedy('REPLICA_QUARANTINED', language),
        ),
    checkStorage(report.storage, language),
    ...(report.cloud ? checkCloud(report.cloud, Date.parse(report.at), language) : []),
    ...report.lines.map((line) =>
      line.state === 'open'
        ? fine(`line ${line.line}`, 'open')
        : broken(`line ${line.line}`, `${line.state}: ${line.detail}`, 'see what is said of its port above'),
    ),
    ...report.devices.map((device) =>
      device.state === 'online'
        ? fine(`device ${device.device}`, `on line, ${device.channel}`)
        : broken(
            `device ${device.device}`,
            `${device.state}${device.reason ? `: ${device.reason}` : ''}${isKeyless(device) ? ', no key yet' : ''}`,
            deviceRemedy(device, language),
          ),
    ),
    ...report.doors.flatMap((door) =>
      door.alarms.map((code) => broken(`door ${door.name}`, codeText(code, language), codeRemedy(code, language))),
    ),
    ...report.doors.flatMap((door) =>
      (door.strangers ?? []).map((device) =>
        broken(
          `door ${door.name}`,
          `its device ${device} is on no line of the configuration`,
          `add ${device} to the devices of a line, or correct its name in the facility and import it`,
        ),
      ),
    ),
    ...report.doors.flatMap((door) =>
      door.state === 'unknown' && (door.strangers ?? []).length === 0
        ? [broken(`door ${door.name}`, 'nobody knows how it stands', 'see what is said of its devices above')]
        : [],
    ),
    ...report.alarms.map(({ subject, code, detail }) =>
      broken(subject, `${codeText(code, language)}${detail === '' ? '' : ` (${detail})`}`, codeRemedy(code, language)),
    ),
  ];
}

function checkStorage({ state, flashBytesPerDay, files }: StorageStatus, language: Language): DoctorFinding {
  const wear = flashBytesPerDay === undefined ? '' : `, ${Math.round(flashBytesPerDay / 2 ** 20)} MiB written a day`;
  const bad = files.filter((file) => file.state !== 'sound');
  const text = `${state}${wear}${bad.map((file) => `; ${file.name} ${file.state}: ${file.detail}`).join('')}`;
  if (bad.length > 0) return broken('storage', text, codeRemedy('STORAGE_DAMAGED', language));
  if (state === 'ok') return fine('storage', text);
  return state === 'low'
    ? risky('storage', text, codeRemedy('STORAGE_LOW', language))
    : broken('storage', text, codeRemedy(state === 'full' ? 'STORAGE_FULL' : 'STORAGE_FAILED', language));
}

/** A gateway that runs and cannot open yet: what it waits for, by the code with which it refuses every call. */
export function checkWaiting({ code, message }: { readonly code: string; readonly message: string }): DoctorFinding {
  const remedy = waitingRemedies[code] ?? 'put right what it says; the gateway goes on by itself';
  return broken('gateway', `runs, and waits: ${message} [${code}]`, remedy);
}

const waitingRemedies: Readonly<Record<string, string>> = {
  UNAVAILABLE: 'it has just been started: ask again in a moment',
  MASTER_KEY_MISSING:
    'put the key of this gateway back; without it, its readers must be keyed and its facility imported anew',
  MASTER_KEY_EXPOSED: 'chmod 400 the file, and ask who may have read it',
  MASTER_KEY_MALFORMED: 'put the key of this gateway back from its backup',
  STORE_READ_ONLY: 'see why the disk is read-only (dmesg); mount it for writing',
  STORE_FULL: 'free some space on the disk',
  STORE_FORBIDDEN: 'give the gateway’s user rights to its data folder',
  STORE_WRONG_KEY: 'put the master key back that belongs to this data folder',
  STORE_NEWER_SCHEMA: 'install the version of the gateway that wrote it, or a later one',
};

/** Nobody can tell a device that waits for its key from one that is not there before it was ever met. */
const isKeyless = ({ hasOwnKey, identity }: DeviceStatus): boolean => hasOwnKey === false && identity === undefined;

function deviceRemedy(status: DeviceStatus, language: Language): string {
  const { device, reason } = status;
  if (reason === 'security-required')
    return `it has no key yet: kannuki-gateway install-window ${device}, or name its keyFile in the configuration`;
  if (reason === 'key-mismatch') return codeRemedy('DEVICE_KEY_MISMATCH', language);
  if (reason === 'identity-changed') return codeRemedy('DEVICE_IDENTITY_CHANGED', language);
  if (reason === 'line-down') return 'see the line above';
  if (isKeyless(status))
    return `no key yet: kannuki-gateway install-window ${device}. If it stays silent, see its wires.`;
  return `${codeRemedy('DEVICE_OFFLINE', language)} Silent at every rate: swap the wires A and B. kannuki-gateway discover looks for it.`;
}
