import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doorFingerprintOf, parseEnrolmentCode, rootPrintOf } from '#shared/enrolment-code.ts';
import { openSync, type SyncRoom, said } from './open-sync.ts';
import { TestGateway } from './test-gateway.ts';

let room: SyncRoom;
beforeAll(async () => {
  room = await openSync();
});
afterAll(async () => {
  await room.close();
});

const confirm = (gateway: TestGateway, fingerprint = doorFingerprintOf(gateway.fingerprintKeys)) =>
  room.call('POST', `/gateways/${gateway.id}/confirm`, { fingerprint });

describe('a gateway that comes in', () => {
  it('waits until somebody compared its fingerprint, and then believes the cloud by the code alone', async () => {
    const code = await room.code();
    const gateway = new TestGateway(room.url);
    expect(await gateway.enrol(code)).toMatchObject({ status: 200, body: { status: 'pending' } });
    expect(await gateway.enrol(code)).toMatchObject({ status: 200, body: { status: 'pending', gateway: gateway.id } });
    expect(await gateway.send('GET', gateway.feedPath(0, 'A'.repeat(22)))).toMatchObject({
      status: 403,
      body: { code: 'GATEWAY_NOT_CONFIRMED' },
    });
    expect(await confirm(gateway, '0'.repeat(64))).toMatchObject({
      status: 422,
      body: { code: 'FINGERPRINT_DIFFERS' },
    });
    expect(await confirm(gateway)).toMatchObject({ status: 200, body: { item: { status: 'active' } } });
    expect(await confirm(gateway)).toMatchObject({ body: { outcome: { status: 'noop', code: 'ALREADY_CONFIRMED' } } });
    expect(await gateway.enrol(code)).toMatchObject({ status: 200, body: { status: 'enrolled' } });
    expect(rootPrintOf(gateway.root)).toBe(parseEnrolmentCode(code)?.rootPrint);
    expect(gateway.facility).toBe(room.facility);
    expect(gateway.lookupKey).toEqual(room.lookupKey);
  });

  it('comes in once by a code: a second machine is refused, and the first stays', async () => {
    const code = await room.code();
    const first = new TestGateway(room.url);
    await first.enrol(code);
    const second = new TestGateway(room.url);
    expect(await second.enrol(code)).toMatchObject({ status: 409, body: { code: 'ENROLMENT_CODE_USED' } });
    expect(await first.enrol(code)).toMatchObject({ status: 200, body: { status: 'pending', gateway: first.id } });
  });

  it('has five tries with a wrong secret, then the code is closed for the right one too', async () => {
    const code = await room.code();
    const wrong = code.replace(/-(.)(.{15})-/, (_all, letter, rest) => `-${letter === '0' ? '1' : '0'}${rest}-`);
    const gateway = new TestGateway(room.url);
    for (let tries = 0; tries < 5; tries += 1) {
      expect(await gateway.enrol(wrong)).toMatchObject({ status: 422, body: { code: 'ENROLMENT_CODE_INVALID' } });
    }
    expect(await gateway.enrol(code)).toMatchObject({ status: 422, body: { code: 'ENROLMENT_CODE_INVALID' } });
    expect(await room.ignored('/enroll', 'ENROLMENT_CODE_INVALID')).toBeGreaterThanOrEqual(6);
  });

  it('is refused with a code whose quarter of an hour is over, or which nobody made', async () => {
    const code = await room.code();
    await sql`update enrolment_code set expires_at = now() - interval '1 second'
      where id = ${parseEnrolmentCode(code)?.codeId}`.execute(room.database.admin);
    const gateway = new TestGateway(room.url);
    expect(await gateway.enrol(code)).toMatchObject({ status: 422, body: { code: 'ENROLMENT_CODE_INVALID' } });
    const made = code.replace(/^KNK1-.{8}/, 'KNK1-00000000');
    expect(await gateway.enrol(made)).toMatchObject({ status: 422, body: { code: 'ENROLMENT_CODE_INVALID' } });
  });

  it('must sign its proof with the key that it names', async () => {
    const code = await room.code();
    const other = new TestGateway(room.url);
    const gateway = new TestGateway(room.url);
    const { doorSignKey } = other.fingerprintKeys;
    expect(await gateway.enrol(code, { doorSignKey })).toMatchObject({
      status: 422,
      body: { code: 'STATEMENT_INVALID' },
    });
  });

  it('is let in by owners and technicians only', async () => {
    for (const role of ['facility_manager', 'staff', 'guest'] as const) {
      expect(await room.call('POST', '/enrolment-codes', { name: 'x' }, role)).toMatchObject({ status: 403 });
    }
    expect(await room.call('POST', '/enrolment-codes', { name: 'x' }, 'technician')).toMatchObject({ status: 201 });
  });
});

describe('a gateway that is put out', () => {
  it('is refused with its next call, and a poll that waits ends without contact', async () => {
    const gateway = await room.gateway();
    await gateway.catchUp();
    expect((await gateway.poll()).lease).toBeDefined();
    const waiting = gateway.send('GET', gateway.feedPath(20_000, 'A'.repeat(22)));
    await expect.poll(() => room.sync.waiters.count()).toBe(1);
    expect(await room.call('POST', `/gateways/${gateway.id}/revoke`, {})).toMatchObject({ status: 200 });
    expect(await gateway.ack()).toMatchObject({ status: 403, body: { code: 'GATEWAY_REVOKED' } });
    room.sync.waiters.wake(gateway.id);
    expect(await waiting).toMatchObject({ status: 403, body: { code: 'GATEWAY_REVOKED' } });
  });

  it('is out at once when another takes its place, and the other gets its doors', async () => {
    const former = await room.gateway();
    await room.emit([said.facility(room.facility), said.door('dorR')]);
    await room.bind('dorR', former.id);
    await former.catchUp();
    const next = await room.gateway({ replaces: former.id });
    expect(await former.ack()).toMatchObject({ status: 403, body: { code: 'GATEWAY_REVOKED' } });
    await next.catchUp();
    expect(next.rows.has('door dorR')).toBe(true);
    expect(await room.call('GET', `/gateways/${former.id}`)).toMatchObject({
      body: { status: 'superseded', doors: [] },
    });
  });
});

describe('a request of a gateway', () => {
  it('counts only with its own token, for this method, path and body, in this minute, once', async () => {
    const gateway = await room.gateway();
    const path = gateway.feedPath(0, 'A'.repeat(22));
    const now = Math.floor(Date.now() / 1_000);
    const refused = async (token: string | null, code: string) =>
      expect(await gateway.send('GET', path, { token })).toMatchObject({ status: 401, body: { code } });
    await refused(null, 'TRANSPORT_TOKEN_INVALID');
    await refused('a.b.c', 'TRANSPORT_TOKEN_INVALID');
    await refused(await gateway.token('POST', path, ''), 'TRANSPORT_TOKEN_INVALID');
    await refused(await gateway.token('GET', `${path}0`, ''), 'TRANSPORT_TOKEN_INVALID');
    await refused(await gateway.token('GET', path, '{}'), 'TRANSPORT_TOKEN_INVALID');
    await refused(await gateway.token('GET', path, '', { aud: 'another' }), 'TRANSPORT_TOKEN_INVALID');
    await refused(await gateway.token('GET', path, '', { exp: now + 3_600 }), 'TRANSPORT_TOKEN_INVALID');
    await refused(await gateway.token('GET', path, '', { iat: now - 300, exp: now - 240 }), 'TRANSPORT_TOKEN_OUTDATED');
    await refused(await gateway.token('GET', path, '', { iat: now + 300, exp: now + 360 }), 'TRANSPORT_TOKEN_OUTDATED');
    const other = await room.gateway();
    await refused(await other.token('GET', path, '', { iss: gateway.id }), 'TRANSPORT_TOKEN_INVALID');
    const token = await gateway.token('GET', path, '');
    expect(await gateway.send('GET', path, { token })).toMatchObject({ status: 200 });
    await refused(token, 'TRANSPORT_TOKEN_REPEATED');
    expect(await room.ignored('/feed', 'TRANSPORT_TOKEN_REPEATED')).toBe(1);
  });

  it('is refused where its body is no JSON, of another shape or too large', async () => {
    const gateway = await room.gateway();
    expect(await gateway.send('POST', '/gateway/v1/feed/ack', { body: { ack: 'x' } })).toMatchObject({
      status: 422,
      body: { code: 'REQUEST_INVALID' },
    });
    expect(await gateway.send('POST', '/gateway/v1/feed/ack', { body: { extra: 1 } })).toMatchObject({ status: 422 });
    const large = { ack: 'a'.repeat(1_100_000) };
    expect(await gateway.send('POST', '/gateway/v1/feed/ack', { body: large })).toMatchObject({ status: 413 });
  });
});
