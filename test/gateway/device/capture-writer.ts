/**
 * A process of its own that captures endless traffic into a file, so that a test can limit what it may write.
 * Usage: capture-writer.ts <file>. Prints the summary as JSON.
 */
import { openCaptureFile } from '#gateway/device/osdp/capture-file.ts';
import { monoMs, wallMs } from '#shared/instant.ts';
import { trafficOf } from './capture-traffic.ts';

const [, , path = ''] = process.argv;
const file = await openCaptureFile(path, {
  anchor: { mono: monoMs(0), wall: wallMs(0) },
  application: 'test',
  mostBytes: 2 ** 30,
});
for (let round = 0; round < 20; round += 1) {
  for (const traffic of trafficOf('02-secure-scbk')) file.write(traffic);
  await new Promise((resolve) => setImmediate(resolve));
}
const { end, fault } = await file.close();
console.log(JSON.stringify({ end, code: (fault as NodeJS.ErrnoException | undefined)?.code }));
