/** The only driver there is so far, wired: a bus for a line of the configuration, and what a capture of it is made of. */
import { randomBytes } from 'node:crypto';
import type { LineId } from '#shared/identifier.ts';
import { invariant } from '#shared/invariant.ts';
import type { KeptBus } from './access/bus-keeper.ts';
import type { DeviceKeys } from './access/device-keys.ts';
import type { GatewayNews } from './access/gateway-news.ts';
import type { Config } from './config.ts';
import { lineConfigOf } from './device/line-address.ts';
import { openCaptureFile } from './device/osdp/capture-file.ts';
import { captureText, emptyCaptureText } from './device/osdp/capture-text.ts';
import { createOsdpBus } from './device/osdp/osdp-bus.ts';
import type { CapturePorts } from './operate/capture.ts';
import { monotonicNow } from './system/monotonic.ts';

export interface BusParts {
  readonly config: Config;
  readonly keys: DeviceKeys;
  readonly news: GatewayNews;
}

export function createBus(id: LineId, { config, keys, news }: BusParts): KeptBus {
  const line = config.lines.find((each) => each.id === id);
  invariant(line !== undefined, `line ${id} is configured`);
  const bus = createOsdpBus(
    { line: lineConfigOf(line), devices: line.devices.map((device) => keys.deviceConfig(device)) },
    { now: monotonicNow, randomBytes, onLine: (health) => news.takeLine(health) },
  );
  return { driver: bus, lineState: () => bus.lineHealth() };
}

export const capturePorts: CapturePorts = { textOf: captureTextOf, openFile: openCaptureFile };

function captureTextOf(): (traffic: Parameters<typeof captureText>[1]) => readonly string[] {
  let state = emptyCaptureText;
  return (traffic) => {
    const step = captureText(state, traffic);
    state = step.state;
    return step.lines;
  };
}
