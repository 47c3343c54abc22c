/** Bus traffic for a person who watches: lines of text to the caller, or a file in the data folder. Redacted either way. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bus } from '../access/bus-keeper.ts';
import { machineWall } from '../clock/time-keeper.ts';
import type { CallContext } from '../control/door-side.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import type { LineTraffic } from '../device/driver.ts';
import type { DoorProcess } from './door-process.ts';

export interface CapturePorts {
  /** Turns traffic into lines of text, one capture after another. */
  readonly textOf: () => (traffic: LineTraffic) => readonly string[];
  readonly openFile: (
    path: string,
    settings: {
      readonly anchor: { readonly mono: LineTraffic['at']; readonly wall: ReturnType<typeof machineWall> };
      readonly application: string;
      readonly mostBytes: number;
    },
  ) => Promise<{
    write(traffic: LineTraffic): void;
    close(): Promise<{
      readonly packets: number;
      readonly leftOut: number;
      readonly bytes: number;
      readonly end: string;
    }>;
  }>;
}

const fileBytesMax = 64 * 1024 * 1024;

/** Runs until the caller goes away. */
export async function captureTraffic(
  call: Arguments<'capture'>,
  context: CallContext,
  { process, ports }: { readonly process: DoorProcess; readonly ports: CapturePorts },
): Promise<unknown> {
  const buses = process.buses().filter(({ line }) => call.line === undefined || line === call.line);
  if (buses.length === 0)
    throw new ControlRefusal(
      'NOT_FOUND',
      `no such line; there are: ${
        process
          .buses()
          .map(({ line }) => line)
          .join(', ') || 'none'
      }`,
    );
  return call.form === 'text' ? captureText(buses, context, ports) : captureFile(buses, context, { process, ports });
}

async function captureText(buses: readonly Bus[], context: CallContext, ports: CapturePorts): Promise<void> {
  const textOf = ports.textOf();
  const stop = observeAll(buses, (traffic) => {
    for (const line of textOf(traffic)) context.emit(line);
  });
  await ended(context.signal);
  stop();
}

async function captureFile(
  buses: readonly Bus[],
  context: CallContext,
  { process, ports }: { readonly process: DoorProcess; readonly ports: CapturePorts },
): Promise<unknown> {
  const folder = join(process.dataDir, 'captures');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const wall = machineWall();
  const path = join(folder, `${new Date(wall).toISOString().replaceAll(':', '-')}.pcapng`);
  const file = await ports.openFile(path, {
    anchor: { mono: process.now(), wall },
    application: `kannuki-gateway ${process.version}`,
    mostBytes: fileBytesMax,
  });
  context.emit(path);
  const stop = observeAll(buses, (traffic) => file.write(traffic));
  await ended(context.signal);
  stop();
  return file.close();
}

function observeAll(buses: readonly Bus[], watcher: (traffic: LineTraffic) => void): () => void {
  const stops = buses.map(({ driver }) => driver.observe(watcher));
  return () => {
    for (const stop of stops) stop();
  };
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
}
