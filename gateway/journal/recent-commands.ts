/**
 * Which commands former runs took up, as the history has it: what was journalled is never begun again, done or not.
 *
 * By places and not by the clock, which may have been set meanwhile. Bounded: a command lives for a minute at most, and
 * more entries, or more commands, than are looked at here do not come in that time.
 */
import type { PlacedTrace } from './interrupted.ts';
import type { JournalFile } from './journal-file.ts';

const rowsAtOnce = 2_048;
const rowsMax = 32_768;
/** Half of what is remembered at once, so that a start leaves room for new ones. */
const recentCommandsMax = 256;

/** @param yieldToWrites resolves after what waits has been committed. @returns ids, the newest first. */
export async function recentCommands(
  file: JournalFile,
  yieldToWrites: () => Promise<void>,
): Promise<readonly string[]> {
  const found = new Set<string>();
  let before = file.position().tip;
  for (let read = 0; read < rowsMax && found.size < recentCommandsMax; read += rowsAtOnce) {
    const rows = file.tables.traceBefore.all(before, rowsAtOnce);
    for (const row of rows) if (isTakenUp(row)) found.add(row.requestId);
    const last = rows.at(-1);
    if (last === undefined) break;
    before = last.place - 1;
    await yieldToWrites();
  }
  return [...found].slice(0, recentCommandsMax);
}

const isTakenUp = (row: PlacedTrace): row is PlacedTrace & { readonly requestId: string } =>
  row.kind === 'command.received' && row.requestId !== null;
