/**
 * Whether the kernel's clock is disciplined by somebody who knows the time.
 *
 * Asked of systemd-timedated, which reads the kernel's own synchronization flag, whichever program keeps it.
 * Not promised: an answer; a machine without systemd, or a hung bus, says `unknown`, which is no evidence.
 */
import { execFile } from 'node:child_process';

const deadlineMs = 3_000;

export function readKernelSynchronization(): Promise<'synchronized' | 'unsynchronized' | 'unknown'> {
  return new Promise((done) => {
    execFile(
      'timedatectl',
      ['show', '--property=NTPSynchronized', '--value'],
      { timeout: deadlineMs },
      (error, output) => {
        const said = output.trim();
        if (error || (said !== 'yes' && said !== 'no')) done('unknown');
        else done(said === 'yes' ? 'synchronized' : 'unsynchronized');
      },
    );
  });
}
