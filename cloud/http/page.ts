/**
 * Lists by cursor: a page is asked for with what the page before ended with.
 *
 * The cursor is opaque to callers and bound to its list by a code, so that one from elsewhere, or one that was made up,
 * is refused instead of read. Ids sort by the time they were made, so a list in their order grows at its end.
 */
import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { createKeyedHash } from '#shared/keyed-hash.ts';
import { RequestRefused } from './problem.ts';

/** Query of every list. */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(50).describe('How many at most.'),
  cursor: z.string().min(1).max(512).optional().describe('`next` of the page before.'),
});

/** Answer of every list: `next` is absent on the last page. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().optional() });

export interface Cursors {
  /** @param list the name of the list and all that narrows it. @param after where the page ended. */
  readonly write: (list: string, after: string) => string;
  /** @throws RequestRefused CURSOR_INVALID. */
  readonly read: (list: string, cursor: string | undefined) => string | undefined;
}

const codeLength = 24;

export function createCursors(key: Uint8Array): Cursors {
  const keyed = createKeyedHash(key);
  const codeOf = (list: string, after: string) => keyed(`${list}\n${after}`).slice(0, codeLength);
  return {
    write: (list, after) => Buffer.from(codeOf(list, after) + after, 'utf8').toString('base64url'),
    read: (list, cursor) => {
      if (cursor === undefined) return undefined;
      const text = Buffer.from(cursor, 'base64url').toString('utf8');
      const after = text.slice(codeLength);
      if (!isSame(text.slice(0, codeLength), codeOf(list, after))) {
        throw new RequestRefused({ refused: 'CURSOR_INVALID' });
      }
      return after;
    },
  };
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Cuts what was read (one more than asked for) to a page. @param keyOf what the cursor points at. */
export function cutPage<Item>(
  rows: readonly Item[],
  limit: number,
  cursorAfter: (last: Item) => string,
): { readonly items: readonly Item[]; readonly next?: string } {
  if (rows.length <= limit) return { items: rows };
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return last === undefined ? { items } : { items, next: cursorAfter(last) };
}
