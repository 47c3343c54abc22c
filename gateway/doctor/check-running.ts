/** What a running gateway says of itself, as findings. */
import { codeRemedy, codeText, isCode } from '#shared/code.ts';
import type { DeviceStatus, DoorStatus, StatusReport, StorageStatus } from '../control/replies.ts';
import { stateWord } from '../control/state-words.ts';
import { checkCloud } from './check-cloud.ts';
import { isCheck } from './check-names.ts';
import { type About, codedFinding, type DoctorFinding, finding, inBoth } from './finding.ts';
import type { Bilingual } from './finding-row.ts';

export function checkRunning(report: StatusReport): readonly DoctorFinding[] {
  const { version, facility, clock, journal, replica, storage, cloud } = report;
  const isReplicaWell = replica.state === 'live' || replica.state === 'empty';
  return [
    finding(['gateway'], 'gateway-runs', { version }),
    facility ? finding(['facility'], 'facility-known', facility) : finding(['facility'], 'facility-none', {}),
    clock.state === 'untrusted'
      ? codedFinding(['clock'], 'fail', 'CLOCK_UNTRUSTED')
      : finding(['clock'], 'clock-fine', { state: words(clock.state) }),
    journal.state === 'available'
      ? finding(['journal'], 'journal-fine', { entries: journal.lastSeq ?? words('unknown') })
      : codedFinding(['journal'], 'fail', 'JOURNAL_UNAVAILABLE', withDetail(journal)),
    isReplicaWell
      ? finding(['replica'], 'replica-fine', { epoch: replica.epoch })
      : codedFinding(['replica'], 'fail', 'REPLICA_QUARANTINED', withDetail(replica)),
    checkStorage(storage),
    ...(cloud ? checkCloud(cloud, Date.parse(report.at)) : []),
    ...report.lines.map(checkLine),
    ...report.devices.map(checkDevice),
    ...report.doors.flatMap(checkDoor),
    ...report.alarms.map(checkAlarm),
  ];
}

/** A state of the status, in both languages. */
const words = (state: string): Bilingual => inBoth((language) => stateWord(state, language));

const withDetail = ({ state, detail }: { readonly state: string; readonly detail: string }): Bilingual =>
  inBoth((language) => `${stateWord(state, language)}: ${detail}`);

function checkStorage({ state, flashBytesPerDay, files }: StorageStatus): DoctorFinding {
  const mebibytes = flashBytesPerDay === undefined ? undefined : Math.round(flashBytesPerDay / 2 ** 20);
  const bad = files.filter((file) => file.state !== 'sound');
  const found = bad.map((file) => `; ${file.name} ${file.state}: ${file.detail}`).join('');
  const wear: Bilingual =
    mebibytes === undefined ? ['', ''] : [`, ${mebibytes} MiB written a day`, `、1日の書込 ${mebibytes} MiB`];
  const how: Bilingual = [`${state}${wear[0]}${found}`, `${stateWord(state, 'ja')}${wear[1]}${found}`];
  if (bad.length > 0) return codedFinding(['storage'], 'fail', 'STORAGE_DAMAGED', how);
  if (state === 'ok') return finding(['storage'], 'storage-fine', { how });
  if (state === 'low') return codedFinding(['storage'], 'warn', 'STORAGE_LOW', how);
  return codedFinding(['storage'], 'fail', state === 'full' ? 'STORAGE_FULL' : 'STORAGE_FAILED', how);
}

function checkLine({ line, state, detail }: StatusReport['lines'][number]): DoctorFinding {
  if (state === 'open') return finding(['line', line], 'line-open', {});
  return finding(['line', line], 'line-closed', { state: words(state), detail });
}

function checkDevice(status: DeviceStatus): DoctorFinding {
  const { device, state, reason, channel } = status;
  const about = ['device', device] as const;
  if (state === 'online') return finding(about, 'device-online', { channel: words(channel ?? 'unknown') });
  const keyless = isKeyless(status);
  const how = inBoth((language) =>
    [
      `${stateWord(state, language)}${reason ? `: ${stateWord(reason, language)}` : ''}`,
      ...(keyless ? [language === 'ja' ? '鍵なし' : 'no key yet'] : []),
    ].join(language === 'ja' ? '、' : ', '),
  );
  if (reason === 'security-required') return finding(about, 'device-needs-key', { how, device });
  if (reason === 'key-mismatch') return codedFinding(about, 'fail', 'DEVICE_KEY_MISMATCH', how);
  if (reason === 'identity-changed') return codedFinding(about, 'fail', 'DEVICE_IDENTITY_CHANGED', how);
  if (reason === 'line-down') return finding(about, 'device-line-down', { how });
  return keyless ? finding(about, 'device-keyless', { how, device }) : finding(about, 'device-silent', { how });
}

/** Nobody can tell a device that waits for its key from one that is not there before it was ever met. */
const isKeyless = ({ hasOwnKey, identity }: DeviceStatus): boolean => hasOwnKey === false && identity === undefined;

function checkDoor({ name, state, alarms, strangers = [], lockAtReader }: DoorStatus): readonly DoctorFinding[] {
  const about = ['door', name] as const;
  return [
    ...alarms.map((code) => codedFinding(about, 'fail', code)),
    ...strangers.map((device) => finding(about, 'door-stranger', { device })),
    ...(state === 'unknown' && strangers.length === 0 ? [finding(about, 'door-unknown', {})] : []),
    ...(lockAtReader === undefined ? [] : [finding(about, 'door-lock-at-reader', { device: lockAtReader })]),
  ];
}

function checkAlarm({ subject, code, detail }: StatusReport['alarms'][number]): DoctorFinding {
  const more = detail === '' ? '' : ` (${detail})`;
  const said = inBoth((language) => `${codeText(code, language)}${more}`);
  return codedFinding(aboutOf(subject), 'fail', code, said);
}

/** `device hall-reader` as what it is and which. */
function aboutOf(subject: string): About {
  const [kind = '', ...id] = subject.split(' ');
  return isCheck(kind) ? [kind, id.join(' ')] : ['gateway', subject];
}

/** A gateway that runs and cannot open yet: what it waits for, by the code with which it refuses every call. */
export function checkWaiting({ code, message }: { readonly code: string; readonly message: string }): DoctorFinding {
  const why = inBoth((language) =>
    language === 'ja' && isCode(code) ? `${codeText(code, language)}(${message})` : message,
  );
  const remedy = inBoth((language) => (isCode(code) ? codeRemedy(code, language) : goesOn[language]));
  return finding(['gateway'], 'gateway-waits', { why, code, remedy });
}

const goesOn = {
  en: 'put right what it says; the gateway goes on by itself',
  ja: '原因を取り除いてください。ゲートウェイは自動的に続けます',
} as const;
