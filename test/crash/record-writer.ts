/** Runs a writer under the recorder and hands out what it did to its folder. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseRecord, type Recorded } from './rebuild-disk.ts';

export interface RecordOptions {
  /** A new folder for the recorder, its log and the writer's data. */
  readonly workFolder: string;
  /** The writer: gets the data folder as its first argument, writes below it, and ends by itself or not at all. */
  readonly script: URL;
  readonly arguments: readonly string[];
}

export async function recordWriter(options: RecordOptions): Promise<Recorded> {
  const library = compileRecorder(options.workFolder);
  const folder = join(options.workFolder, 'data');
  const log = join(options.workFolder, 'record');
  mkdirSync(folder, { recursive: true });
  const writer = spawn(process.execPath, [fileURLToPath(options.script), folder, ...options.arguments], {
    env: { ...process.env, LD_PRELOAD: library, RECORDER_FOLDER: `${folder}/`, RECORDER_LOG: log },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  writer.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  await once(writer, 'close');
  return { folder, events: parseRecord(readFileSync(log), folder), output };
}

function compileRecorder(folder: string): string {
  const library = join(folder, 'recorder.so');
  if (existsSync(library)) return library;
  mkdirSync(folder, { recursive: true });
  const source = fileURLToPath(new URL('./recorder.c', import.meta.url));
  execFileSync('cc', ['-O1', '-Wall', '-Werror', '-shared', '-fPIC', '-o', library, source, '-lpthread'], {
    stdio: 'inherit',
  });
  return library;
}
