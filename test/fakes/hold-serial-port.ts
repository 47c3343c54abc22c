/** A process of its own that holds a serial port until its standard input ends; says `open` or the fault's name. */
import { LineFault } from '#gateway/device/line.ts';
import { openSerialLine } from '#gateway/device/serial-line.ts';
import { monoMs } from '#shared/instant.ts';

const path = process.argv[2] ?? '';
try {
  await openSerialLine({ path, baud: 9600 }, { bytes: () => {}, lost: () => {} }, () => monoMs(performance.now()));
  process.stdout.write('open\n');
} catch (error) {
  process.stdout.write(`${error instanceof LineFault ? error.code : String(error)}\n`);
}
process.stdin.on('end', () => process.exit(0)).resume();
