/** `import`: reads a facility from a JSON file or a folder of CSV files, checks all of it, and puts it in force as one. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ControlClient } from '../control/edge-side.ts';
import { chunkBytesMax, importBytesMax } from '../control/messages.ts';
import type { ImportReport } from '../control/replies.ts';
import { type Call, type Command, UsageError } from './command.ts';
import { withGateway } from './gateway-call.ts';

/** Hashing 10 000 PINs one by one takes minutes; a door's own PINs never wait for it. */
const importDeadlineMs = 600_000;

export const command: Command = {
  usage: 'kannuki-gateway import <facility.json | folder of CSV files> [--dry-run] [--json]',
  options: { 'dry-run': { type: 'boolean' } },
  wordsMax: 1,
  run: (call) =>
    withGateway(call, async (client) => {
      const [source] = call.words;
      if (!source) throw new UsageError('import what?');
      const files = readSource(source);
      const id = (await client.call('import-begin', {
        files: files.map(({ name, content }) => ({ name, bytes: content.length })),
      })) as string;
      await send(client, id, files);
      const onItem = (item: unknown) => {
        if (!call.flags['json']) call.terminal.err(String(item));
      };
      const committed = await client.call(
        'import-commit',
        { import: id, dryRun: call.flags['dry-run'] === true },
        { onItem, deadlineMs: importDeadlineMs },
      );
      return show(call, committed as ImportReport);
    }),
};

interface SourceFile {
  readonly name: string;
  readonly content: Buffer;
}

function readSource(source: string): readonly SourceFile[] {
  const info = statSync(source, { throwIfNoEntry: false });
  if (!info) throw new UsageError(`${source} is neither a file nor a folder`);
  if (!info.isDirectory()) return [{ name: 'facility.json', content: readBounded(source) }];
  const names = readdirSync(source).filter((name) => name.endsWith('.csv'));
  if (names.length === 0) throw new UsageError(`${source} holds no .csv file`);
  return names.map((name) => ({ name: basename(name), content: readBounded(join(source, name)) }));
}

function readBounded(path: string): Buffer {
  const { size } = statSync(path);
  if (size > importBytesMax) throw new UsageError(`${path} is larger than ${importBytesMax} bytes`);
  if (size === 0) throw new UsageError(`${path} is empty`);
  return readFileSync(path);
}

async function send(client: ControlClient, id: string, files: readonly SourceFile[]): Promise<void> {
  for (const { name, content } of files) {
    for (let at = 0; at < content.length; at += chunkBytesMax) {
      const base64 = content.subarray(at, at + chunkBytesMax).toString('base64');
      await client.call('import-chunk', { import: id, name, base64 });
    }
  }
}

function show(call: Call, report: ImportReport): number {
  const isRefused = report.errors.length > 0;
  if (call.flags['json']) call.terminal.out(JSON.stringify(report));
  else describe(call, report);
  return isRefused ? 1 : 0;
}

function describe(call: Call, report: ImportReport): void {
  for (const issue of report.errors) call.terminal.err(`  ${issue}`);
  for (const warning of report.warnings) call.terminal.err(`  note: ${warning}`);
  if (report.errors.length > 0) {
    call.terminal.err(`Nothing was imported: ${report.errors.length} mistakes.`);
    return;
  }
  const counts = Object.entries(report.counts).map(([kind, count]) => `${count} ${kind}`);
  const what = report.epoch === undefined ? 'Would import' : `In force as epoch ${report.epoch}`;
  call.terminal.out(`${what}: ${counts.join(', ')}.`);
}
