/** Puts a facility in force through the gateway's control socket, as the command line would. */
import { readFileSync } from 'node:fs';
import type { ControlClient } from '#gateway/control/edge-side.ts';
import { chunkBytesMax } from '#gateway/control/messages.ts';
import type { ImportReport } from '#gateway/control/replies.ts';

const importWithinMs = 120_000;

/** @throws Error listing every mistake of the file; nothing is imported then. */
export async function importFacility(client: ControlClient, file: string): Promise<void> {
  const content = readFileSync(file);
  const id = (await client.call('import-begin', {
    files: [{ name: 'facility.json', bytes: content.length }],
  })) as string;
  for (let at = 0; at < content.length; at += chunkBytesMax) {
    const base64 = content.subarray(at, at + chunkBytesMax).toString('base64');
    await client.call('import-chunk', { import: id, name: 'facility.json', base64 });
  }
  const call = { import: id, dryRun: false };
  const report = (await client.call('import-commit', call, { deadlineMs: importWithinMs })) as ImportReport;
  if (report.errors.length > 0) throw new Error(`${file} cannot be imported:\n  ${report.errors.join('\n  ')}`);
}
