/** What each line needs before a byte can pass: the port, the right to it, an adapter that does not dawdle. */
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { readKeyFile } from '../access/key-file.ts';
import type { Config } from '../config.ts';
import { type About, type DoctorFinding, finding } from './finding.ts';
import { look } from './look.ts';

type LineOf = Config['lines'][number];

export function checkLines(config: Config): readonly DoctorFinding[] {
  if (config.lines.length === 0) return [finding(['lines'], 'lines-none', {})];
  return config.lines.flatMap((line) => [
    ...checkPort(line),
    ...line.devices.map((device) => checkDevice(line, device)),
  ]);
}

function checkPort({ id, serial: path, tcp, baud }: LineOf): readonly DoctorFinding[] {
  const about = ['line', id] as const;
  if (path === undefined) return [finding(about, 'line-tcp', { address: tcp ?? '', baud })];
  if (!existsSync(path)) return [finding(about, 'port-absent', { path })];
  if (!statSync(path).isCharacterDevice()) return [finding(about, 'port-not-serial', { path })];
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch {
    return [finding(about, 'port-forbidden', { path })];
  }
  const isByName = path.startsWith('/dev/serial/by-id/') || path.startsWith('/dev/pts/');
  const port = isByName ? finding(about, 'port-fine', { path, baud }) : finding(about, 'port-name-changes', { path });
  return [port, ...checkLatency(['adapter', id], path)];
}

/** FTDI adapters hold bytes back for 16 ms unless told otherwise. */
function checkLatency(about: About, path: string): readonly DoctorFinding[] {
  const timer = `/sys/bus/usb-serial/devices/${basename(realpathSync(path))}/latency_timer`;
  if (!existsSync(timer)) return [];
  const ms = Number(readFileSync(timer, 'utf8'));
  return [ms <= 1 ? finding(about, 'adapter-fine', { ms }) : finding(about, 'adapter-slow', { ms, timer })];
}

function checkDevice(line: LineOf, { id, address, security, keyFile }: LineOf['devices'][number]): DoctorFinding {
  const about = ['device', id] as const;
  if (security === 'plain') return finding(about, 'device-plain', { address, line: line.id });
  if (keyFile === undefined) return finding(about, 'device-key-installed', { address });
  const fault = keyFileFault(keyFile);
  return fault === undefined
    ? finding(about, 'key-file-fine', { address, path: keyFile })
    : finding(about, fault, { path: keyFile });
}

function keyFileFault(path: string) {
  const info = look(path);
  const reading = readKeyFile(path);
  if ('key' in reading) return undefined;
  if (info === 'absent') return 'key-file-absent';
  if (info !== 'hidden' && (info.mode & 0o077) !== 0) return 'key-file-exposed';
  return info === 'hidden' || reading.fault.endsWith('EACCES') ? 'key-file-hidden' : 'key-file-malformed';
}
