import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openTestCloud, type Person } from '../http/test-cloud.ts';

const client = { id: 'kannuki', secret: 'a secret of the client' };

async function startProvider(): Promise<{ readonly issuer: string; readonly process: ChildProcessWithoutNullStreams }> {
  const file = join(import.meta.dirname, 'oidc-provider.ts');
  const child = spawn(process.execPath, [file, client.id, client.secret]);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { issuer: line.toString().trim(), process: child };
}

const provider = await startProvider();
const redirectUri = 'http://127.0.0.1:1/back';
const cloud = await openTestCloud({
  oidc: { issuer: provider.issuer, clientId: client.id, clientSecret: client.secret, redirectUri },
});
afterAll(async () => {
  await cloud.close();
  provider.process.kill();
});
const { call } = cloud;

interface Claims {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

/** As a browser goes: to the provider, which knows the person at once, and back with a code. */
async function visit(person: Claims): Promise<{ readonly state: string; readonly code: string }> {
  const { status, body } = await call({ method: 'POST', url: '/v1/sessions/oidc/start' });
  expect(status).toBe(201);
  const url = new URL(body.url);
  url.searchParams.set('as', JSON.stringify(person));
  const back = await fetch(url, { redirect: 'manual' });
  const answer = new URL(back.headers.get('location') ?? '');
  expect(answer.href.startsWith(redirectUri)).toBe(true);
  expect(answer.searchParams.get('state')).toBe(body.state);
  return { state: body.state, code: answer.searchParams.get('code') ?? '' };
}

const finish = (answer: object) => call({ url: '/v1/sessions/oidc/finish', body: answer });
const misbehave = (how: string) => fetch(`${provider.issuer}/misbehave?how=${how}`);
const verified = (person: Person, sub: string): Claims => ({ sub, email: person.email, email_verified: true });

it('lets somebody in whose verified address is known, and by the account alone from then on', async () => {
  const owner = await cloud.owner('olga');
  const first = await finish(await visit(verified(owner, 'account-olga')));
  expect(first).toMatchObject({ status: 201, body: { user: owner.user } });
  expect((await call({ as: first.body.accessToken, url: '/v1/me' })).body.facilities).toEqual([
    { id: owner.facility, role: 'owner' },
  ]);
  const later = await finish(
    await visit({ sub: 'account-olga', email: 'olga.new@example.test', email_verified: true }),
  );
  expect(later).toMatchObject({ status: 201, body: { user: owner.user } });
});

it('lets nobody in by an address that the provider did not verify, or that is not known', async () => {
  const owner = await cloud.owner('otto');
  for (const person of [
    { sub: 'thief', email: owner.email },
    { sub: 'thief', email: owner.email, email_verified: false },
    { sub: 'nobody', email: 'nobody@example.test', email_verified: true },
    { sub: 'nameless' },
  ]) {
    expect(await finish(await visit(person))).toMatchObject({ status: 403, body: { code: 'USER_UNKNOWN' } });
  }
});

it('makes somebody known who was invited at that address, and only them', async () => {
  const owner = await cloud.owner('iris');
  const url = `/v1/facilities/${owner.facility}/invitations`;
  const email = 'ivo@example.test';
  const { body: invited } = await call({ as: owner.token, url, body: { email, role: 'staff' } });
  const stranger = { sub: 'eve', email: 'eve@example.test', email_verified: true };
  expect((await finish({ ...(await visit(stranger)), invitation: invited.token })).status).toBe(403);
  const person = { sub: 'ivo', email, email_verified: true, name: 'Ivo' };
  const { status, body } = await finish({ ...(await visit(person)), invitation: invited.token });
  expect(status).toBe(201);
  const accepted = await call({ as: body.accessToken, url: '/v1/invitations/accept', body: { token: invited.token } });
  expect(accepted.status).toBe(200);
  const { body: again } = await finish(await visit(person));
  expect((await call({ as: again.accessToken, url: '/v1/me' })).body).toMatchObject({
    name: 'Ivo',
    facilities: [{ id: owner.facility, role: 'staff' }],
  });
});

it('takes an answer once, and only for an attempt that was begun here', async () => {
  const owner = await cloud.owner('olaf');
  const answer = await visit(verified(owner, 'account-olaf'));
  expect((await finish(answer)).status).toBe(201);
  expect(await finish(answer)).toMatchObject({ status: 401, body: { code: 'OIDC_FAILED' } });
  const [one, two] = [await visit(verified(owner, 'account-olaf')), await visit(verified(owner, 'account-olaf'))];
  // The code of one attempt with the state of another: the proof of the first does not fit the second.
  expect((await finish({ state: one.state, code: two.code })).status).toBe(401);
  expect((await finish({ state: 'made up', code: two.code })).status).toBe(401);
});

it.each(['nonce', 'issuer', 'audience', 'expired', 'key'])('refuses an ID token with a wrong %s', async (how) => {
  const owner = await cloud.owner(`oskar-${how}`);
  const answer = await visit(verified(owner, `account-${how}`));
  await misbehave(how);
  expect(await finish(answer)).toMatchObject({ status: 401, body: { code: 'OIDC_FAILED' } });
});

it('says so when the provider does not answer, and that there is none where none is set up', async () => {
  const away = { issuer: 'http://127.0.0.1:1', clientId: 'x', redirectUri };
  const without = await openTestCloud();
  const unreachable = await openTestCloud({ oidc: away });
  const start = { method: 'POST', url: '/v1/sessions/oidc/start' } as const;
  expect(await without.call(start)).toMatchObject({ status: 404, body: { code: 'OIDC_OFF' } });
  expect(await unreachable.call(start)).toMatchObject({ status: 503, body: { code: 'OIDC_UNAVAILABLE' } });
  await without.close();
  await unreachable.close();
});
