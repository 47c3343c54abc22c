/**
 * Statements that a connection parses and plans once, and not each time it runs them: for those that come with every call.
 *
 * Their text is fixed in the code, lists come as array parameters, and their columns are written out: a column that a
 * migration adds must not change what they return while they are in use.
 */
import { hash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';

const mark = '/* prepared */ ';

/** At the very beginning of such a statement. */
export const prepared: RawBuilder<unknown> = sql.raw(mark);

/** As many as there are such texts in the code. */
const names = new Map<string, string>();

/** The name under which a connection keeps a statement; `undefined` for one that is not kept. */
export function preparedName(text: string): string | undefined {
  if (!text.startsWith(mark)) return undefined;
  const known = names.get(text) ?? hash('sha256', text, 'hex').slice(0, 32);
  names.set(text, known);
  return known;
}
