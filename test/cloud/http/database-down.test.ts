import { afterAll, expect, it } from 'vitest';
import { openPool } from '#cloud/database/pool.ts';
import { openTestDatabase } from '../../database/open-database.ts';
import { openCutProxy } from './cut-proxy.ts';
import { openTestCloud } from './test-cloud.ts';

const database = await openTestDatabase();
const { hostname, port } = new URL(database.url('app'));
const wire = await openCutProxy({ host: hostname, port: Number(port) });
const throughWire = new URL(database.url('app'));
throughWire.port = String(wire.port);
const app = openPool({ url: throughWire.href, size: 4, name: 'test-wire' });
const cloud = await openTestCloud({ pools: { app, worker: database.worker, gateway: database.gateway } });
afterAll(async () => {
  await cloud.close();
  await app.destroy();
  await wire.close();
  await database.close();
});
const { call } = cloud;

it('says 503 and when to come back while the database is away, is not ready, and loses nothing', async () => {
  const { createOwner } = await import('#cloud/identity/create-owner.ts');
  const { createSealer } = await import('#cloud/identity/sealed-value.ts');
  const facility = { name: 'House', zone: 'Asia/Tokyo', language: 'en' } as const;
  const owner = { email: 'dora@example.test', password: 'correct horse battery', name: 'Dora', organization: 'D' };
  const made = await createOwner(app, createSealer(cloud.cloudKey), { ...owner, facility });
  const { token } = await cloud.logIn(owner.email);
  const url = `/v1/facilities/${made.facility}`;
  expect((await call({ url: '/ready' })).status).toBe(200);
  wire.cut();
  const change = {
    as: token,
    method: 'PATCH' as const,
    url,
    body: { version: 1, name: 'Mansion' },
    key: 'key-of-down',
  };
  for (const refused of [await call(change), await call({ as: token, url }), await call({ url: '/ready' })]) {
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  }
  expect(await call({ as: token, url })).toMatchObject({ body: { code: 'DATABASE_UNAVAILABLE' } });
  expect((await call({ url: '/health' })).status).toBe(200);
  wire.mend();
  expect((await call({ as: token, url })).body).toMatchObject({ name: 'House', version: 1 });
  expect(await call(change)).toMatchObject({ status: 200, body: { name: 'Mansion', version: 2 } });
  expect(await call(change)).toMatchObject({ status: 200, body: { name: 'Mansion', version: 2 } });
  expect((await call({ url: '/ready' })).status).toBe(200);
});
