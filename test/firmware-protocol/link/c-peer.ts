/** The lock in C as a process that this one speaks with line by line, waiting for each answer. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFlatMap, type Item } from '#protocol/link/flat-map.ts';
import type { LockConfig, LockDrop, LockEffect, LockInput } from '#protocol/link/lock-port.ts';
import { decodeMessage } from '#protocol/link/message.ts';
import { type ToLock, toLock } from '#protocol/link/to-lock.ts';
import { hexOf, inputLine, word } from '../../../tools/link-vector-lines.ts';
import type { LockEnd } from './link-bench.ts';

export const sourceFolder = join(import.meta.dirname, '..', '..', '..', 'firmware-protocol', 'c');

const flags = ['-std=c99', '-O1', '-g', '-Wall', '-Wextra', '-Werror', '-pedantic', '-fsanitize=address,undefined'];

const sources = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.c'))
    .map((name) => join(folder, name));

/** Builds a program of test/ with the whole lock, with warnings as errors and with sanitizers. */
export function buildProgram(name: 'peer' | 'fuzz', folder: string): string {
  const program = join(folder, name);
  const own = [join(sourceFolder, 'test', `${name}.c`), join(sourceFolder, 'test', 'lines.c')];
  const lock = [...sources(sourceFolder), ...sources(join(sourceFolder, 'portable'))];
  execFileSync('cc', [...flags, '-fno-sanitize-recover=all', '-o', program, ...own, ...lock], { stdio: 'inherit' });
  return program;
}

export class CPeer {
  readonly folder = mkdtempSync(join(tmpdir(), 'kannuki-link-'));
  private readonly child: ChildProcess;
  private readonly input: number;
  private readonly output: number;
  private readonly chunk = Buffer.alloc(65_536);

  constructor() {
    const program = buildProgram('peer', this.folder);
    const [input, output, errors] = ['in', 'out', 'errors'].map((name) => join(this.folder, name)) as [
      string,
      string,
      string,
    ];
    execFileSync('sh', ['-c', 'mkfifo "$0" "$1"', input, output]);
    this.child = spawn('sh', ['-c', 'exec "$0" < "$1" > "$2" 2> "$3"', program, input, output, errors], {
      stdio: 'ignore',
    });
    this.input = openSync(input, 'w');
    this.output = openSync(output, 'r');
  }

  /** Says one line and waits for the lines of its answer. */
  ask(line: string): readonly string[] {
    writeSync(this.input, `${line}\n`);
    let text = '';
    while (!text.endsWith('.\n')) {
      const length = readSync(this.output, this.chunk);
      if (length === 0)
        throw new Error(`the lock in C has ended:\n${readFileSync(join(this.folder, 'errors'), 'utf8')}`);
      text += this.chunk.toString('latin1', 0, length);
    }
    return text.split('\n').slice(0, -2);
  }

  /** Ends the process. @returns its exit code. */
  async close(): Promise<number | null> {
    const ended = this.child.exitCode === null ? once(this.child, 'exit') : undefined;
    closeSync(this.input);
    await ended;
    closeSync(this.output);
    rmSync(this.folder, { recursive: true, force: true });
    return this.child.exitCode;
  }
}

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text === '-' ? '' : text, 'hex'));

function itemOf(text: string): Item {
  const value = text.slice(1);
  if (text.startsWith('u')) return Number(value);
  if (text.startsWith('f')) return value === '1';
  return text.startsWith('t') ? Buffer.from(value, 'hex').toString('latin1') : hex(value);
}

function commandOf(items: string): ToLock {
  const map = new Map(
    items.split(',').map((item) => {
      const [key = '', value = ''] = item.split('=');
      return [Number(key), itemOf(value)];
    }),
  );
  const decoding = decodeMessage(toLock, encodeFlatMap(map));
  if (decoding.kind === 'refused') throw new Error(`${items} is ${decoding.refusal}`);
  return decoding.message;
}

function effectOf(line: string): LockEffect {
  const [kind = '', one = '', two = '', three = ''] = line.split(' ');
  const ticket = { session: Number(one), request: Number(two) };
  switch (kind) {
    case 'transmit':
      return { kind, bytes: hex(one) };
    case 'execute':
      return { kind, ticket, command: commandOf(three) };
    case 'ask':
      return { kind, ticket, question: commandOf(three) };
    case 'session':
      return { kind, session: Number(one) };
    case 'key-confirmed':
      return { kind, key: hex(one) };
    case 'dropped':
      return { kind, reason: one as LockDrop };
    case 'untold':
      return { kind };
    default:
      throw new Error(`the lock in C says ${line}`);
  }
}

/** The line that starts a lock anew. */
export function lockLine({ deviceId, key, candidate, identity }: LockConfig): string {
  const { vendor, model, serial, firmware, abilities } = identity;
  const [id, ...names] = [deviceId, vendor, model, serial, firmware].map((text) => hexOf(Buffer.from(text, 'latin1')));
  return `lock ${id} ${hexOf(key)} ${word(candidate)} ${names.join(' ')} ${abilities}`;
}

/** The process as one end of a bench. */
export function lockInC(peer: CPeer): LockEnd {
  return {
    start: (config) => {
      if (peer.ask(lockLine(config)).length > 0) throw new Error('the lock in C does not start');
    },
    step: (input: LockInput) => peer.ask(inputLine(input)).map(effectOf),
  };
}
