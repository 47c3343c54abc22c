/** From a line's configuration to the way to open it. */
import type { MonoMs } from '#shared/instant.ts';
import type { LineConfig, OpenLine } from './line.ts';
import { openSerialLine } from './serial-line.ts';
import { openTcpLine } from './tcp-line.ts';

export function lineOpener(config: LineConfig, now: () => MonoMs): OpenLine {
  return config.kind === 'serial'
    ? (listener) => openSerialLine(config, listener, now)
    : (listener) => openTcpLine(config, listener, now);
}
