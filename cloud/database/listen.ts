/**
 * Listens on one channel of PostgreSQL's NOTIFY over a connection of its own, and comes back when it is lost.
 *
 * Not promised: messages of the time it was away. Whoever needs all of them reads a table.
 */
import pg from 'pg';

export interface ListenOptions {
  /** The connection string of a role's login. */
  readonly url: string;
  readonly channel: string;
  readonly onMessage: (text: string) => void;
  /** Of the connection; it is tried again. */
  readonly onFault: (error: unknown) => void;
  /** Wait between two tries, ms. */
  readonly retryMs?: number;
}

export interface Listening {
  readonly close: () => Promise<void>;
}

/** Comes back at once; listening begins as soon as there is a connection. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const retryMs = options.retryMs ?? 1_000;
  let [client, timer, isClosed]: [pg.Client | undefined, NodeJS.Timeout | undefined, boolean] = [
    undefined,
    undefined,
    false,
  ];

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: options.url,
      application_name: 'kannuki-listen',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    client = next;
    next.on('error', options.onFault);
    next.on('end', () => {
      if (client === next) again();
    });
    next.on('notification', ({ payload }) => options.onMessage(payload ?? ''));
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(options.channel)}`);
    } catch (error) {
      options.onFault(error);
      // Its `end` follows where it was connected; otherwise nothing does.
      if (client === next) again();
    }
  }

  function again(): void {
    client = undefined;
    if (isClosed || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      void connect();
    }, retryMs);
  }

  await connect();
  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(options.onFault);
    },
  };
}
