/** `status`: the gateway at a glance; what needs somebody comes first. */
import { codeText, type Language } from '#shared/code.ts';
import { gateMark, gateWord } from '../control/gate-marks.ts';
import type { DeviceStatus, DoorStatus, StatusReport, StorageStatus } from '../control/replies.ts';
import type { Command } from './command.ts';
import { facilityTime } from './facility-time.ts';
import { withGateway } from './gateway-call.ts';

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
  const time =
    clock.now === undefined
      ? 'unknown'
      : `${facilityTime(Date.parse(clock.now), facility?.zone)} ±${Math.ceil(clock.errorMs / 1000)} s`;
  return [
    ...report.doors.flatMap((door) =>
      door.alarms.map((code) => `! ${door.name}: ${codeText(code, language)} [${code}]`),
    ),
    ...report.alarms.map(
      ({ subject, code, detail: why }) => `! ${subject}: ${codeText(code, language)} [${code}]${detail(why)}`,
    ),
    `facility  ${facility ? `${facility.name} (${facility.zone})` : 'none yet: kannuki-gateway import'}`,
    `clock     ${clock.state} · ${time}`,
    `journal   ${journal.state}${detail(journal.detail)} · ${journal.lastSeq ?? 'unknown'} entries`,
    `replica   ${replica.state}${detail(replica.detail)} · epoch ${replica.epoch}`,
    `storage   ${storageText(report.storage)}`,
    ...report.doors.map((door) => `door      ${doorText(door, language)}`),
    ...report.lines.map((line) => `line      ${line.line} · ${line.state}${detail(line.detail)}`),
    ...report.devices.map((device) => `device    ${deviceText(device)}`),
  ];
}

const detail = (text: string) => (text === '' ? '' : ` (${text})`);

function storageText({ state, freeBytes, flashBytesPerDay, files }: StorageStatus): string {
  const wear = flashBytesPerDay === undefined ? '' : ` · ${mebibytes(flashBytesPerDay)} written a day`;
  const read = files.length === 0 ? '' : ` · ${files.map((file) => `${file.name} ${file.state}`).join(', ')}`;
  return `${state} · ${mebibytes(freeBytes)} free${wear}${read}`;
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(bytes < 100 * 2 ** 20 ? 1 : 0)} MiB`;

function doorText(door: DoorStatus, language: Language): string {
  const mode = door.mode === 'controlled' ? '' : ` · ${gateWord(door.mode, language)}`;
  return `${gateMark(door).shape} ${door.name} · ${gateWord(door.state, language)}${mode}${ageText(door.ageMs)}`;
}

function deviceText(device: DeviceStatus): string {
  const { identity } = device;
  const name = identity ? ` · ${identity.vendor} ${identity.model} #${identity.serial} fw ${identity.firmware}` : '';
  const why = device.reason === undefined ? '' : ` · ${device.reason}`;
  const channel = device.channel === undefined ? '' : ` · ${device.channel}`;
  return `${device.line}/${device.device} · ${device.state}${why}${channel}${name}${ageText(device.ageMs)}`;
}

/** Ages of up to 5 s are now. */
function ageText(ms: number): string {
  if (ms <= 5_000) return '';
  const seconds = Math.floor(ms / 1000);
  if (seconds < 120) return ` · for ${seconds} s`;
  return seconds < 7_200 ? ` · for ${Math.floor(seconds / 60)} min` : ` · for ${Math.floor(seconds / 3600)} h`;
}
