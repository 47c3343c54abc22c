/** What each line needs before a byte can pass: the port, the right to it, an adapter that does not dawdle. */
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { readKeyFile } from '../access/key-file.ts';
import type { Config } from '../config.ts';
import { asGateway, broken, type DoctorFinding, fine, risky } from './finding.ts';
import { look } from './look.ts';

type LineOf = Config['lines'][number];

export function checkLines(config: Config): readonly DoctorFinding[] {
  if (config.lines.length === 0)
    return [risky('lines', 'the configuration names no line', 'add a line with its devices')];
  return config.lines.flatMap((line) => [
    ...checkPort(line),
    ...line.devices.flatMap((device) => checkDevice(line, device)),
  ]);
}

function checkPort(line: LineOf): readonly DoctorFinding[] {
  const check = `line ${line.id}`;
  if (line.serial === undefined) return [fine(check, `TCP ${line.tcp}, timed as ${line.baud} baud`)];
  const path = line.serial;
  if (!existsSync(path))
    return [
      broken(check, `${path} does not exist`, 'plug the adapter in; ls -l /dev/serial/by-id shows what is there'),
    ];
  if (!statSync(path).isCharacterDevice())
    return [broken(check, `${path} is not a serial port`, 'name a port below /dev/serial/by-id')];
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch {
    return [broken(check, `${path} may not be opened`, 'add the gateway’s user to the group dialout')];
  }
  const byId = path.startsWith('/dev/serial/by-id/') || path.startsWith('/dev/pts/');
  const port = byId
    ? fine(check, `${path}, ${line.baud} baud`)
    : risky(check, `${path} may change its name after a reboot`, 'name the port by /dev/serial/by-id');
  return [port, ...checkLatency(check, path)];
}

/** FTDI adapters hold bytes back for 16 ms unless told otherwise. */
function checkLatency(check: string, path: string): readonly DoctorFinding[] {
  const timer = `/sys/bus/usb-serial/devices/${basename(realpathSync(path))}/latency_timer`;
  if (!existsSync(timer)) return [];
  const ms = Number(readFileSync(timer, 'utf8'));
  return ms <= 1
    ? [fine(`${check} adapter`, `latency timer ${ms} ms`)]
    : [risky(`${check} adapter`, `latency timer ${ms} ms`, `echo 1 > ${timer}`)];
}

function checkDevice(line: LineOf, device: LineOf['devices'][number]): readonly DoctorFinding[] {
  const check = `device ${device.id}`;
  if (device.security === 'plain') {
    return [
      risky(
        check,
        `address ${device.address} on ${line.id} speaks without encryption: anybody at the line can open its doors`,
        'give it a key: security: secure, then kannuki-gateway install-window',
      ),
    ];
  }
  if (device.keyFile === undefined)
    return [
      fine(check, `address ${device.address}, takes its key by an installation; whether it has one, the gateway knows`),
    ];
  return [checkKeyFile(check, device.keyFile, `address ${device.address}, key from ${device.keyFile}`)];
}

function checkKeyFile(check: string, path: string, whole: string): DoctorFinding {
  const info = look(path);
  const reading = readKeyFile(path);
  if ('key' in reading) return fine(check, whole);
  if (info === 'absent')
    return broken(check, `key file ${path} does not exist`, 'put the 32 hexadecimal digits of its key there');
  if (info !== 'hidden' && (info.mode & 0o077) !== 0)
    return broken(check, `key file ${path} can be read by others`, `chmod 400 ${path}`);
  return info === 'hidden' || reading.fault.endsWith('EACCES')
    ? risky(check, `key file ${path} may not be read`, asGateway)
    : broken(
        check,
        `key file ${path} holds no key`,
        'put the 32 hexadecimal digits of its key there, and nothing else',
      );
}
