/** `status`: the gateway at a glance; what needs somebody comes first. */
import { codeText, type Language } from '#shared/code.ts';
import type { Command } from '#shared/command-line/command.ts';
import { gateMark, gateWord } from '../control/gate-marks.ts';
import type { DeviceStatus, DoorStatus, StatusReport, StorageStatus } from '../control/replies.ts';
import { stateWord } from '../control/state-words.ts';
import { cloudText } from './cloud-words.ts';
import { facilityTime } from './facility-time.ts';
import { withGateway } from './gateway-call.ts';
import { ageWords, label } from './status-words.ts';

export const command: Command = {
  usage: 'kannuki-gateway status [--json]',
  options: {},
  wordsMax: 0,
  run: (call) =>
    withGateway(call, async (client) => {
      const report = (await client.call('status', {})) as StatusReport;
      if (call.flags['json']) call.terminal.out(JSON.stringify(report));
      else for (const line of statusLines(report, call.terminal.language)) call.terminal.out(line);
      return 0;
    }),
};

/** The report as lines of text. */
export function statusLines(report: StatusReport, language: Language): readonly string[] {
  const { facility, clock, journal, replica } = report;
  const say = (state: string) => stateWord(state, language);
  const none = say('none yet: kannuki-gateway import');
  const entries = `${journal.lastSeq ?? say('unknown')} ${language === 'ja' ? '件' : 'entries'}`;
  return [
    ...alarmLines(report, language),
    `${label('facility', language)}${facility ? `${facility.name} (${facility.zone})` : none}`,
    `${label('clock', language)}${say(clock.state)} · ${timeText(report, language)}`,
    `${label('journal', language)}${say(journal.state)}${detail(journal.detail)} · ${entries}`,
    `${label('replica', language)}${say(replica.state)}${detail(replica.detail)} · epoch ${replica.epoch}`,
    ...(report.cloud ? [`${label('cloud', language)}${cloudText(report.cloud, language)}`] : []),
    `${label('storage', language)}${storageText(report.storage, language)}`,
    ...report.doors.map((door) => `${label('door', language)}${doorText(door, language)}`),
    ...report.lines.map((line) => `${label('line', language)}${line.line} · ${say(line.state)}${detail(line.detail)}`),
    ...report.devices.map((device) => `${label('device', language)}${deviceText(device, language)}`),
  ];
}

function alarmLines({ doors, alarms }: StatusReport, language: Language): readonly string[] {
  return [
    ...doors.flatMap((door) => door.alarms.map((code) => `! ${door.name}: ${codeText(code, language)} [${code}]`)),
    ...alarms.map(
      ({ subject, code, detail: why }) => `! ${subject}: ${codeText(code, language)} [${code}]${detail(why)}`,
    ),
  ];
}

function timeText({ clock, facility }: StatusReport, language: Language): string {
  if (clock.now === undefined) return stateWord('unknown', language);
  return `${facilityTime(Date.parse(clock.now), facility?.zone)} ±${Math.ceil(clock.errorMs / 1000)} s`;
}

const detail = (text: string) => (text === '' ? '' : ` (${text})`);

function storageText({ state, freeBytes, flashBytesPerDay, files }: StorageStatus, language: Language): string {
  const [free, daily] = language === 'ja' ? ['空き', '1日の書込'] : ['free', 'written a day'];
  const wear = flashBytesPerDay === undefined ? '' : ` · ${mebibytes(flashBytesPerDay)} ${daily}`;
  const read = files.length === 0 ? '' : ` · ${files.map((file) => `${file.name} ${file.state}`).join(', ')}`;
  return `${stateWord(state, language)} · ${mebibytes(freeBytes)} ${free}${wear}${read}`;
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(bytes < 100 * 2 ** 20 ? 1 : 0)} MiB`;

function doorText(door: DoorStatus, language: Language): string {
  const mode = door.mode === 'controlled' ? '' : ` · ${gateWord(door.mode, language)}`;
  return `${gateMark(door).shape} ${door.name} · ${gateWord(door.state, language)}${mode}${ageWords(door.ageMs, language)}`;
}

function deviceText(device: DeviceStatus, language: Language): string {
  const { identity, badFrames } = device;
  const name = identity ? ` · ${identity.vendor} ${identity.model} #${identity.serial} fw ${identity.firmware}` : '';
  const why = device.reason === undefined ? '' : ` · ${stateWord(device.reason, language)}`;
  const channel = device.channel === undefined ? '' : ` · ${stateWord(device.channel, language)}`;
  const noise = badFrames === 0 ? '' : ` · ${badFrames} ${language === 'ja' ? '件の破損' : 'damaged'}`;
  return `${device.line}/${device.device} · ${stateWord(device.state, language)}${why}${channel}${name}${noise}${ageWords(device.ageMs, language)}`;
}
