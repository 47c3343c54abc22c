/** Looks for devices on a line of which nothing is known: by OSDP, the only bus whose devices can be asked who they are. */
import type { LineConfig } from './device/line.ts';
import { discoverDevices, discoveryBauds, type FoundDevice, type Progress } from './device/osdp/discover-devices.ts';
import { monotonicNow } from './system/monotonic.ts';

export interface LineSearch {
  readonly line: LineConfig;
  readonly addresses: readonly number[];
  /** Exactly one device is on the line. */
  readonly isAlone: boolean;
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

/** A converter keeps its own rate; a serial port is searched at every one. @throws LineFault if the line fails. */
export function searchLine(search: LineSearch): Promise<readonly FoundDevice[]> {
  const bauds = search.line.kind === 'tcp' ? [search.line.baud] : discoveryBauds;
  return discoverDevices({ ...search, bauds }, monotonicNow);
}
