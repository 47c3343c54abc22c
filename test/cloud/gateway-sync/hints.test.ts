import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalHints, type FeedHints } from '#cloud/gateway-sync/feed-hints.ts';
import { createMqttHints } from '#cloud/gateway-sync/mqtt-hints.ts';
import { createPostgresHints } from '#cloud/gateway-sync/postgres-hints.ts';
import { openTestDatabase, type TestDatabase } from '../../database/open-database.ts';

interface Pair {
  /** Of two nodes; what one publishes both hear. */
  readonly nodes: readonly [FeedHints, FeedHints];
  close(): Promise<void>;
}

let database: TestDatabase;
let broker: ChildProcess;
let brokerUrl = '';
beforeAll(async () => {
  database = await openTestDatabase();
  broker = spawn(process.execPath, [fileURLToPath(new URL('./broker-process.ts', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = (await once(broker.stdout ?? broker, 'data')) as [Buffer];
  brokerUrl = `mqtt://127.0.0.1:${port.toString('utf8').trim()}`;
});
afterAll(async () => {
  broker.kill();
  await database.close();
});

const onFault = (error: unknown): void => {
  throw error;
};

const pairs: Readonly<Record<string, () => Promise<Pair>>> = {
  'in one process': async () => {
    const hints = createLocalHints();
    return { nodes: [hints, hints], close: () => hints.close() };
  },
  'over PostgreSQL': async () => {
    const node = () => createPostgresHints(database.worker, { url: database.url('app'), onFault });
    const nodes = [await node(), await node()] as const;
    return { nodes, close: async () => void (await Promise.all(nodes.map((one) => one.close()))) };
  },
  'over an MQTT broker': async () => {
    const node = () => createMqttHints({ url: brokerUrl, onFault });
    const nodes = [await node(), await node()] as const;
    return { nodes, close: async () => void (await Promise.all(nodes.map((one) => one.close()))) };
  },
};

describe.each(Object.keys(pairs))('hints %s', (name) => {
  let pair: Pair;
  beforeAll(async () => {
    const open = pairs[name];
    if (!open) throw new Error(name);
    pair = await open();
  });
  afterAll(async () => {
    await pair.close();
  });

  it('come to every node that listens, and to none that stopped', async () => {
    const [one, other] = pair.nodes;
    const heard = new Set<string>();
    const stopped: string[] = [];
    const stop = one.subscribe((id) => stopped.push(id));
    stop();
    const stops = [one.subscribe((id) => heard.add(`one ${id}`)), other.subscribe((id) => heard.add(`other ${id}`))];
    await one.publish(['gwy_a', 'gwy_b']);
    await expect
      .poll(() => [...heard].toSorted(), { timeout: 10_000 })
      .toEqual(['one gwy_a', 'one gwy_b', 'other gwy_a', 'other gwy_b']);
    expect(stopped).toEqual([]);
    for (const end of stops) end();
  });

  it('of many gateways come in several messages', async () => {
    const heard = new Set<string>();
    const stop = pair.nodes[1].subscribe((id) => heard.add(id));
    const ids = Array.from({ length: 450 }, (_, n) => `gwy_${String(n).padStart(26, '0')}`);
    await pair.nodes[0].publish(ids);
    await expect.poll(() => heard.size, { timeout: 10_000 }).toBe(450);
    stop();
  });
});

describe('hints over PostgreSQL', () => {
  it('come again after the listening connection was cut', async () => {
    const faults: unknown[] = [];
    const hints = await createPostgresHints(database.worker, {
      url: database.url('app'),
      onFault: (error) => faults.push(error),
      retryMs: 20,
    });
    const heard: string[] = [];
    hints.subscribe((id) => heard.push(id));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'kannuki-listen' and datname = current_database()`.execute(database.admin);
    await expect.poll(() => faults.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await expect
      .poll(
        async () => {
          await hints.publish(['gwy_again']);
          return heard.includes('gwy_again');
        },
        { timeout: 10_000 },
      )
      .toBe(true);
    await hints.close();
  });
});
