/**
 * The recorded OSDP sessions as the traffic of a line, for tests of captures.
 */
import type { LineTraffic } from '#gateway/device/driver.ts';
import { identifier, type LineId } from '#shared/identifier.ts';
import { monoMs } from '#shared/instant.ts';
import { fromHex, readTrace } from '../../firmware-protocol/osdp/trace.ts';

export const frontDoor: LineId = identifier('front-door');

export function trafficOf(trace: string, line: LineId = frontDoor): readonly LineTraffic[] {
  return readTrace(trace)
    .filter((row) => row.dir !== 'PD-xx')
    .map((row) => ({
      at: monoMs(row.t),
      line,
      direction: row.dir === 'CP>PD' ? 'to-device' : 'from-device',
      bytes: fromHex(row.hex),
    }));
}
