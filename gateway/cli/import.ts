/** `import`: reads a facility from a JSON file or a folder of CSV files, checks all of it, and puts it in force as one. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Call, type Command, UsageError } from '#shared/command-line/command.ts';
import { printable } from '#shared/printable.ts';
import type { ControlClient } from '../control/edge-side.ts';
import { chunkBytesMax, importBytesMax, importNamePattern } from '../control/messages.ts';
import type { ImportReport } from '../control/replies.ts';
import { withGateway } from './gateway-call.ts';
import { importWords } from './import-words.ts';

/** Hashing 10 000 PINs one by one takes minutes; a door's own PINs never wait for it. */
const importDeadlineMs = 600_000;

const plainName = 'facility.json';

export const command: Command = {
  usage: 'kannuki-gateway import <facility.json | folder of CSV files> [--dry-run] [--json]',
  options: { 'dry-run': { type: 'boolean' } },
  wordsMax: 1,
  run: async (call) => {
    const [source] = call.words;
    if (!source) throw new UsageError('import what?', '取り込むファイルを指定してください');
    const files = readSource(source);
    try {
      const report = await withGateway(call, (client) => importFiles(call, client, files));
      return show(call, inOwnName(report, source));
    } catch (error) {
      if (!call.terminal.signal.aborted) throw error;
      call.terminal.err(importWords[call.terminal.language].givenUp);
      return 1;
    }
  },
};

async function importFiles(call: Call, client: ControlClient, files: readonly SourceFile[]): Promise<ImportReport> {
  const id = (await client.call('import-begin', {
    files: files.map(({ name, content }) => ({ name, bytes: content.length })),
  })) as string;
  await send(client, id, files);
  const onItem = (item: unknown) => {
    if (!call.flags['json']) call.terminal.err(importWords[call.terminal.language].pins(String(item)));
  };
  const order = { import: id, dryRun: call.flags['dry-run'] === true };
  return (await client.call('import-commit', order, { onItem, deadlineMs: importDeadlineMs })) as ImportReport;
}

/** A file whose name could not be sent is still called by it here. */
function inOwnName(report: ImportReport, source: string): ImportReport {
  if (statSync(source).isDirectory() || sentName(source) === basename(source)) return report;
  const own = printable(basename(source));
  const errors = report.errors.map((text) =>
    text.startsWith(`${plainName} line `) ? own + text.slice(plainName.length) : text,
  );
  return { ...report, errors };
}

interface SourceFile {
  readonly name: string;
  readonly content: Buffer;
}

function readSource(source: string): readonly SourceFile[] {
  const info = statSync(source, { throwIfNoEntry: false });
  if (!info) throw new UsageError(`${source} is neither a file nor a folder`, `${source} がありません`);
  if (!info.isDirectory()) {
    if (source.endsWith('.csv'))
      throw new UsageError(
        'CSV files are imported as the folder that holds them',
        'CSV は、ファイルの入ったフォルダーを指定してください',
      );
    return [{ name: sentName(source), content: readBounded(source) }];
  }
  const names = readdirSync(source).filter((name) => name.endsWith('.csv'));
  const odd = names.find((name) => !importNamePattern.test(name));
  if (odd !== undefined)
    throw new UsageError(
      `${printable(odd)} is not a file of an import set`,
      `${printable(odd)} は取り込めるファイルではありません`,
    );
  if (names.length === 0)
    throw new UsageError(`${source} holds no .csv file`, `${source} に .csv ファイルがありません`);
  return names.map((name) => ({ name: basename(name), content: readBounded(join(source, name)) }));
}

/** The name under which the gateway speaks of a JSON file: its own, where that is plain. */
function sentName(source: string): string {
  const name = basename(source);
  return name.endsWith('.json') && importNamePattern.test(name) ? name : plainName;
}

function readBounded(path: string): Buffer {
  const { size } = statSync(path);
  if (size > importBytesMax)
    throw new UsageError(
      `${path} is larger than ${importBytesMax} bytes`,
      `${path} が大きすぎます(上限 ${importBytesMax} バイト)`,
    );
  if (size === 0) throw new UsageError(`${path} is empty`, `${path} が空です`);
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

function describe({ terminal }: Call, { errors, warnings, counts, epoch }: ImportReport): void {
  const say = importWords[terminal.language];
  for (const issue of errors) terminal.err(`  ${printable(issue)}`);
  for (const warning of warnings) terminal.err(`  ${say.note}: ${printable(warning)}`);
  const counted = say.counted(counts);
  if (errors.length > 0) terminal.err(say.nothing(errors.length));
  else terminal.out(epoch === undefined ? say.would(counted) : say.inForce(epoch, counted));
}
