/**
 * Loaded into the demonstration's gateway: its wall clock stands off the machine's by what a file says, so that a time
 * source can be wrong without touching the machine. Monotonic time is as it is, as it would be for a real step.
 */
import { readFileSync, watchFile } from 'node:fs';

const file = process.env['KANNUKI_DEMO_CLOCK'] ?? '';
const machineNow = Date.now;
const read = (): number => {
  try {
    return Number(readFileSync(file, 'utf8').trim()) || 0;
  } catch {
    return 0;
  }
};
let stepMs = read();
watchFile(file, { interval: 250, persistent: false }, () => {
  stepMs = read();
});
Date.now = () => machineNow() + stepMs;
