/**
 * A pool whose connections, once a statement went unanswered past the client's own deadline, are not used again.
 *
 * Without it such a connection would go back and keep the next caller, and the next, to the same deadline: the driver gives
 * up on the statement, not on the connection.
 */
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { preparedName } from './prepared.ts';

export function discardSilent(pool: pg.Pool): PostgresPool {
  const watched = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      const known = watched.get(client) ?? watch(client);
      watched.set(client, known);
      return known;
    },
  };
}

function watch(client: pg.PoolClient): PostgresPoolClient {
  let isSilent = false;
  const query = async (text: string, parameters: unknown[]): Promise<unknown> => {
    try {
      const name = preparedName(text);
      return await (name === undefined
        ? client.query(text, parameters)
        : client.query({ name, text, values: parameters }));
    } catch (error) {
      if (error instanceof Error && error.message === 'Query read timeout') isSilent = true;
      throw error;
    }
  };
  return {
    query: query as PostgresPoolClient['query'],
    release: (isBroken) => client.release(isBroken || isSilent),
  };
}
