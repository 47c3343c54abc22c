/**
 * The process of one simulated line and everything that hangs on it: a real peer of the gateway.
 *
 * Lives as long as its supervisor: when that is gone, however it went, this ends too.
 */
import type { FromLine, ToLine } from './line-message.ts';
import { openSimulatedLine, type SimulatedLine } from './simulated-line.ts';
import { SiteRefusal } from './site-refusal.ts';

let line: SimulatedLine | undefined;

const tell = (message: FromLine) => {
  // A supervisor that is gone hears nothing, and that is no fault of this line: it ends by `disconnect`.
  if (process.connected) process.send?.(message, undefined, {}, () => {});
};

async function hear(message: ToLine): Promise<void> {
  if (message.kind === 'open') {
    try {
      line = await openSimulatedLine(message.assignment, (event) => tell({ kind: 'event', event }));
      tell({ kind: 'opened', port: line.port });
    } catch (error) {
      tell({ kind: 'failed', detail: error instanceof Error ? error.message : String(error) });
    }
    return;
  }
  const { id } = message;
  try {
    if (line === undefined) throw new SiteRefusal('CLOSED', 'the line is not open');
    tell({ kind: 'answer', id, answer: await line.perform(message.call) });
  } catch (error) {
    if (!(error instanceof SiteRefusal)) throw error;
    tell({ kind: 'refused', id, detail: error.message });
  }
}

process.on('message', (message) => void hear(message as ToLine));
process.on('disconnect', () => process.exit(0));
// A terminal sends Ctrl-C to the whole group: the supervisor decides when its lines end.
process.on('SIGINT', () => {});
