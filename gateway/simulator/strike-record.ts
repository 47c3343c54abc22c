/**
 * What really happened at a simulated lock: one line per electrical change and per command, in a file of its own.
 *
 * The witness that no gateway can talk to: written by the peripheral's process before it answers the command,
 * append-only, so it holds whatever the gateway's own history says. Times are on the machine's clocks.
 * Not promised: durability over a power cut of the simulating machine, or an end: whoever runs a site for weeks removes it.
 */
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { DoorId } from '#shared/identifier.ts';

/** One line of the record. */
export interface StrikeEvent {
  /** Wall time, ISO 8601. */
  readonly at: string;
  /** CLOCK_MONOTONIC of the machine, ms; comparable between its processes. */
  readonly monoMs: number;
  readonly cause: 'start' | 'command' | 'timer' | 'power-lost' | 'power-back' | 'jammed' | 'freed';
  /** The OUT command as it stood in the message: code byte 68, output, control code, timer; hexadecimal. */
  readonly command?: string;
  /** Whether current flows after it, and whether that is a change. */
  readonly isOn: boolean;
  readonly hasChanged: boolean;
  /** Whether the door can be pushed open after it. */
  readonly isPassable: boolean;
}

export interface StrikeRecord {
  append(event: Omit<StrikeEvent, 'at' | 'monoMs'>): void;
  close(): void;
}

/** The file of one door's lock inside a site's state folder. */
function strikeRecordFile(stateDir: string, door: DoorId | string): string {
  return join(stateDir, `strike-${door}.jsonl`);
}

export function openStrikeRecord(stateDir: string, door: DoorId): StrikeRecord {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const file = openSync(strikeRecordFile(stateDir, door), 'a', 0o600);
  return {
    append: (event) => {
      const line = { at: new Date().toISOString(), monoMs: Number(process.hrtime.bigint()) / 1e6, ...event };
      writeSync(file, `${JSON.stringify(line)}\n`);
    },
    close: () => closeSync(file),
  };
}

/** All of a lock's record, oldest first. A line that is still being written is left out. @throws Error for a damaged file. */
export function readStrikeRecord(stateDir: string, door: DoorId | string): StrikeEvent[] {
  const text = readFileSync(strikeRecordFile(stateDir, door), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as StrikeEvent);
}
