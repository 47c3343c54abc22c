/**
 * The log: one JSON object a line on standard error, for the machine's journal.
 *
 * It is for whoever runs the machine. What happened at a door is in the journal, not here.
 * Never logged: keys, PINs, card bits, request bodies.
 */
import { pino } from 'pino';

export type Logger = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;

export function createLogger(level: 'debug' | 'info' | 'warn' | 'error' | 'silent'): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}
