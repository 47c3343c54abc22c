import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestCloud, type Person } from './test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call } = cloud;
let owner: Person;
let url: string;
beforeAll(async () => {
  owner = await cloud.owner('olga');
  url = `/v1/facilities/${owner.facility}`;
});

it('refuses a field it does not know, with its path, in the language that is asked for', async () => {
  const body = { version: 1, name: 'House', colour: 'red' };
  const english = await call({ as: owner.token, method: 'PATCH', url, body });
  expect(english.status).toBe(422);
  expect(english.headers['content-type']).toContain('application/problem+json');
  expect(english.body).toMatchObject({
    code: 'REQUEST_INVALID',
    status: 422,
    request: expect.stringMatching(/^req_/),
    fields: [{ path: '/body/colour', key: 'field.unknown', message: 'is not known' }],
  });
  const japanese = await call({
    as: owner.token,
    method: 'PATCH',
    url,
    body,
    headers: { 'accept-language': 'fr, ja-JP;q=0.9, en;q=0.1' },
  });
  expect(japanese.body).toMatchObject({ code: 'REQUEST_INVALID', title: '要求の内容に誤りがあります。' });
  expect(japanese.body.fields[0].message).toBe('は使えない項目です');
});

it.each([
  [{ version: 0 }, '/body/version', 'field.too_small', '1'],
  [{ version: 'one' }, '/body/version', 'field.wrong_type', 'number'],
  [{}, '/body/version', 'field.required', undefined],
  [{ version: 1, name: ' ' }, '/body/name', 'field.too_short', '1'],
  [{ version: 1, name: 'n'.repeat(121) }, '/body/name', 'field.too_long', '120'],
  [{ version: 1, language: 'fr' }, '/body/language', 'field.not_allowed', 'en, ja'],
])('names what is wrong with %j', async (body, path, key, limit) => {
  const { status, body: problem } = await call({ as: owner.token, method: 'PATCH', url, body });
  expect(status).toBe(422);
  expect(problem.fields[0]).toMatchObject({ path, key, ...(limit === undefined ? {} : { limit }) });
});

it('refuses a body that is no JSON, too large, of another kind, or reaches for a prototype', async () => {
  const send = (payload: string, type = 'application/json') =>
    call({ as: owner.token, method: 'PATCH', url, body: payload, headers: { 'content-type': type } });
  expect(await send('{"version":')).toMatchObject({ status: 400, body: { code: 'BODY_MALFORMED' } });
  expect(await send('')).toMatchObject({ status: 400, body: { code: 'BODY_MALFORMED' } });
  expect(await send('{"__proto__":{"version":1}}')).toMatchObject({ status: 400, body: { code: 'BODY_MALFORMED' } });
  expect(await send(JSON.stringify({ name: 'x'.repeat(300_000) }))).toMatchObject({
    status: 413,
    body: { code: 'BODY_TOO_LARGE' },
  });
  expect(await send('version=1', 'text/plain')).toMatchObject({ status: 415, body: { code: 'BODY_TYPE_UNSUPPORTED' } });
  expect(await send('version=1', 'application/x-www-form-urlencoded')).toMatchObject({ status: 415 });
});

it('refuses a query it does not know, and a NUL that the database could not keep', async () => {
  const query = await call({ as: owner.token, url: `${url}?verbose=1` });
  expect(query).toMatchObject({ status: 422, body: { fields: [{ path: '/query/verbose', key: 'field.unknown' }] } });
  const nul = await call({ as: owner.token, method: 'PATCH', url, body: { version: 1, name: 'a\u0000b' } });
  expect(nul).toMatchObject({ status: 422, body: { code: 'REQUEST_INVALID' } });
});

it('answers alike for a facility of others, one that does not exist, and an address that leads nowhere', async () => {
  const other = await cloud.owner('otto');
  const places = [other.facility, 'fac_00000000000000000000000000', 'no such id!', '%00', 'x'.repeat(100)];
  for (const place of places) {
    const found = await call({ as: owner.token, url: `/v1/facilities/${encodeURIComponent(place)}` });
    expect(found, place).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    expect(JSON.stringify(found.body)).not.toContain(other.facility);
  }
  for (const broken of [
    '/v1/facilities/%zz',
    `/v1/facilities/${'x'.repeat(5_000)}`,
    '/V1/facilities',
    '/v1/facilities/',
  ]) {
    expect(await call({ as: owner.token, url: broken }), broken).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
  }
  expect(await call({ as: owner.token, url: '/v1/nothing' })).toMatchObject({
    status: 404,
    body: { code: 'NOT_FOUND' },
  });
});

it('asks who it is before it looks at anything else', async () => {
  for (const as of [undefined, 'nonsense', `kst_${'a'.repeat(43)}`, `${owner.token}x`, 'x'.repeat(20_000)]) {
    const found = await call({ as, method: 'PATCH', url, body: { colour: 'red' } });
    expect(found).toMatchObject({ status: 401, body: { code: 'NOT_AUTHENTICATED' } });
    expect(found.headers['www-authenticate']).toBe('Bearer');
  }
});

it('tells a stale edit what it is now', async () => {
  const fresh = await call({ as: owner.token, url });
  const edit = (name: string) =>
    call({ as: owner.token, method: 'PATCH', url, body: { version: fresh.body.version, name } });
  expect(await edit('First')).toMatchObject({ status: 200, body: { name: 'First', version: fresh.body.version + 1 } });
  expect(await edit('Second')).toMatchObject({
    status: 409,
    body: { code: 'VERSION_STALE', current: { name: 'First', version: fresh.body.version + 1 } },
  });
});

it('describes itself as OpenAPI 3.1: every route, once, with its access and the key that a change needs', async () => {
  const { status, body: document } = await call({ url: '/v1/openapi.json' });
  expect(status).toBe(200);
  expect(document.openapi).toBe('3.1.0');
  const operations = Object.entries<Record<string, Record<string, unknown>>>(document.paths).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]): Record<string, unknown> => ({ path, method, ...operation })),
  );
  const names = operations.map((operation) => operation['operationId']);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain('createFacility');
  for (const operation of operations) {
    const name = String(operation['operationId']);
    expect(operation['summary'], name).toMatch(/\.$/);
    expect(operation['x-access'], name).toBeDefined();
    const parameters = (operation['parameters'] ?? []) as readonly { name: string; in: string }[];
    const isKeyed = parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'idempotency-key');
    expect(isKeyed, name).toBe(operation['x-access'] !== 'open' && operation['method'] !== 'get');
    expect(Object.keys(operation['responses'] as object), name).toContain('default');
  }
});

it('shows the same as a page without a script, under a policy that allows none', async () => {
  const page = await call({ url: '/v1/docs', headers: { 'accept-language': 'ja' } });
  expect(page.headers['content-security-policy']).toBe("default-src 'none';style-src 'self'");
  expect(page.body).toContain('<html lang="ja">');
  expect(page.body).toContain('id="createFacility"');
  expect(page.body).toContain('id="IDEMPOTENCY_KEY_REUSED"');
  expect(page.body).not.toContain('<script');
  expect((await call({ url: '/v1/docs.css' })).headers['content-type']).toContain('text/css');
});

it('gives every answer an id and headers that keep it out of caches and frames', async () => {
  const { headers } = await call({ as: owner.token, url });
  expect(headers['x-request-id']).toMatch(/^req_[0-9A-Z]{26}$/);
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  expect(headers['x-frame-options']).toBeDefined();
});

it('counts requests by route and status, without an id in any label', async () => {
  await call({ as: owner.token, url });
  const text = await cloud.cloud.metrics.metrics();
  expect(text).toMatch(
    /kannuki_http_requests_total\{method="GET",route="\/v1\/facilities\/:facility",status="200"\} \d+/,
  );
  expect(text).not.toContain(owner.facility);
});
