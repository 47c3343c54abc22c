/** The terminal of this process, and the signal by which whoever began it ends it. */
import type { Language } from '../code.ts';
import type { Terminal } from './command.ts';

export function openTerminal(language: Language): Terminal {
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
  endWithParent(() => ended.abort());
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') ended.abort();
  });
  return {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
    isTty: process.stdout.isTTY === true,
    language,
    signal: ended.signal,
  };
}

/** Where another process of ours keeps this one, it does not go on alone. */
function endWithParent(end: () => void): void {
  if (process.channel === undefined) return;
  process.once('disconnect', end);
  // A command that is done ends, whoever is still at the other end.
  process.channel?.unref();
}
