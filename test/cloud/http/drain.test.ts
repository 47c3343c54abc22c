/** Going down: what is in flight is finished, what is new is turned away, and nothing is left running. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { parseConfig } from '#cloud/config.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { readCloudKey } from '#cloud/identity/cloud-key.ts';
import { createOwner } from '#cloud/identity/create-owner.ts';
import { createSealer } from '#cloud/identity/sealed-value.ts';
import { openDatabase } from '#cloud/open-database.ts';
import { runCloud } from '#cloud/run-cloud.ts';
import { password } from './test-cloud.ts';

const folder = mkdtempSync('/dev/shm/kannuki-drain-');
chmodSync(folder, 0o711);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const config = parseConfig('dataDir: .\nlisten: { port: 0 }\noperations: { port: 0 }\n', join(folder, 'cloud.yaml'));

function openAdmin(): Database {
  const port = readFileSync(join(folder, 'database/data/postmaster.pid'), 'utf8').split('\n')[3];
  const word = readFileSync(join(folder, 'database/admin.password'), 'utf8').trim();
  return openPool({ url: `postgres://kannuki_admin:${word}@127.0.0.1:${port}/postgres`, size: 3, name: 'test' });
}

const post = (url: string, body: object, token?: string, method = 'POST') =>
  fetch(url, {
    method,
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      'idempotency-key': crypto.randomUUID(),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });

it('finishes what is in flight, is no longer ready, and leaves no server behind', { timeout: 90_000 }, async () => {
  const cloud = await runCloud(config, undefined);
  const cloudKey = readCloudKey(config.keyFile);
  const beside = await openDatabase({ config, cloudKey, databaseUrl: undefined });
  const facility = { name: 'House', zone: 'Asia/Tokyo', language: 'en' } as const;
  const owner = { email: 'down@example.test', password, name: 'Down', organization: 'D' };
  const made = await createOwner(beside.pools.app, createSealer(cloudKey), { ...owner, facility });
  await beside.close();
  const login = await post(`${cloud.url}/v1/sessions`, { email: owner.email, password });
  const { accessToken } = (await login.json()) as { readonly accessToken: string };
  expect((await fetch(`${cloud.operationsUrl}/ready`)).status).toBe(200);
  expect(await (await fetch(`${cloud.operationsUrl}/metrics`)).text()).toContain('kannuki_http_requests_total');
  expect((await fetch(`${cloud.url}/metrics`)).status).toBe(404);

  const admin = openAdmin();
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  const holding = admin.transaction().execute(async (transaction) => {
    await sql`select from facility where id = ${made.facility} for update`.execute(transaction);
    isHeld = true;
    await held;
  });
  await expect.poll(() => isHeld, { timeout: 20_000 }).toBe(true);
  const inFlight = post(
    `${cloud.url}/v1/facilities/${made.facility}`,
    { version: 1, name: 'Mansion' },
    accessToken,
    'PATCH',
  );
  const waits = async () => {
    const found = await sql`select from pg_stat_activity where wait_event_type = 'Lock'`.execute(admin);
    return found.rows.length > 0;
  };
  await expect.poll(waits, { timeout: 20_000 }).toBe(true);
  const closed = cloud.close();
  const ready = async () => (await fetch(`${cloud.operationsUrl}/ready`)).status;
  await expect.poll(ready, { timeout: 20_000 }).toBe(503);
  await expect(fetch(`${cloud.url}/health`)).rejects.toThrow();
  release();
  await holding;
  await admin.destroy();
  const answer = await inFlight;
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ name: 'Mansion' });
  await closed;
  await expect(fetch(`${cloud.operationsUrl}/health`)).rejects.toThrow();
  expect(existsSync(join(folder, 'database/data/postmaster.pid'))).toBe(false);
});
