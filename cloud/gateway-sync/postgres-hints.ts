/**
 * Hints over PostgreSQL's NOTIFY: between nodes that share a database and nothing else.
 *
 * Each message is a transaction of its own, after the commits it speaks of: NOTIFY takes a lock of the whole server at
 * commit, and would make every business transaction wait for every other.
 */
import { sql } from 'kysely';
import type { Listening, ListenOptions } from '#cloud/database/listen.ts';
import { listen } from '#cloud/database/listen.ts';
import type { Database } from '#cloud/database/pool.ts';
import { createHintListeners, type FeedHints, hintedIds, hintMessages } from './feed-hints.ts';

const channel = 'kannuki_feed';

/** @param url of the login that listens. */
export async function createPostgresHints(
  database: Database,
  options: Omit<ListenOptions, 'channel' | 'onMessage'>,
): Promise<FeedHints> {
  const { subscribe, tell } = createHintListeners();
  const listening: Listening = await listen({ ...options, channel, onMessage: (text) => tell(hintedIds(text)) });
  return {
    subscribe,
    async publish(gatewayIds) {
      // Whoever waits on this node need not wait for the echo.
      tell(gatewayIds);
      try {
        for (const message of hintMessages(gatewayIds)) {
          await sql`select pg_notify(${channel}, ${message})`.execute(database);
        }
      } catch (error) {
        options.onFault(error);
      }
    },
    close: () => listening.close(),
  };
}
