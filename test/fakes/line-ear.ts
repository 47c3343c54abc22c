/** Collects what a line tells. */
import type { LineFault, LineListener } from '#gateway/device/line.ts';

export interface LineEar extends LineListener {
  readonly text: () => string;
  readonly faults: LineFault[];
}

export function createLineEar(): LineEar {
  const chunks: Uint8Array[] = [];
  const faults: LineFault[] = [];
  return {
    bytes: (bytes) => {
      chunks.push(bytes.slice());
    },
    lost: (fault) => {
      faults.push(fault);
    },
    text: () => Buffer.concat(chunks).toString('latin1'),
    faults,
  };
}
