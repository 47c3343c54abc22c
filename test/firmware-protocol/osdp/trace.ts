/**
 * The recorded sessions of `traces/`, read for tests.
 */
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('./traces/', import.meta.url);

export interface TraceRow {
  /** Milliseconds since the start of the session. */
  readonly t: number;
  /** `PD-xx`: made by the peripheral and withheld from the line. */
  readonly dir: 'CP>PD' | 'PD>CP' | 'PD-xx';
  readonly hex: string;
  readonly note?: string;
}

export const traceNames = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length));

/** The transmissions of a session, without the rows that say what the peripheral was told to do meanwhile. */
export function readTrace(name: string): readonly TraceRow[] {
  const rows = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as readonly Partial<TraceRow>[];
  return rows.filter((row): row is TraceRow => (row.hex ?? '') !== '');
}

export const fromHex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
