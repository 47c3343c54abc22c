import { generateKeyPairSync, sign } from 'node:crypto';
import { CompactSign, compactVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { timeStatement } from '#shared/contract/sync/feed.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { createSealKey, openSealed, sealFor } from '#shared/sealed-box.ts';
import { namedKey, publicSignKey, rawPublicKey, signStatement, verifyStatement } from '#shared/signed-statement.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const said = { gateway: 'gwy_1', nonce: 'AAAAAAAAAAAAAAAAAAAAAA', at: 1_800_000_000_000 };
const verifyTime = (jws: string, key = publicKey) => verifyStatement(statementType.time, timeStatement, jws, key);

describe('a signed statement', () => {
  it('is what was said', async () => {
    const jws = await signStatement(statementType.time, said, privateKey);
    expect(await verifyTime(jws, publicSignKey(rawPublicKey(publicKey)))).toEqual({ kind: 'verified', value: said });
    expect(namedKey(jws)).toMatch(/^[0-9a-f]{16}$/);
  });

  it('is refused when it is another kind, by another key, of another shape, or changed anywhere', async () => {
    const other = await signStatement(statementType.lease, said, privateKey);
    expect(await verifyTime(other)).toEqual({ kind: 'rejected', reason: 'wrong-type' });
    const stranger = await signStatement(statementType.time, said, generateKeyPairSync('ed25519').privateKey);
    expect(await verifyTime(stranger)).toEqual({ kind: 'rejected', reason: 'wrong-signature' });
    const more = await signStatement(statementType.time, { ...said, more: 1 }, privateKey);
    expect(await verifyTime(more)).toEqual({ kind: 'rejected', reason: 'wrong-shape' });
    const jws = await signStatement(statementType.time, said, privateKey);
    for (let at = 0; at < jws.length; at += 1) {
      const changed = `${jws.slice(0, at)}${jws[at] === 'A' ? 'B' : 'A'}${jws.slice(at + 1)}`;
      const result = await verifyTime(changed);
      // The last sign of base64url holds bits that are no part of the value.
      if (result.kind === 'verified')
        expect(Buffer.from(changed.split('.')[2] ?? '', 'base64url')).toEqual(
          Buffer.from(jws.split('.')[2] ?? '', 'base64url'),
        );
    }
  });

  it('is never believed without a signature, whatever its header says', async () => {
    const none = `${Buffer.from('{"alg":"none","typ":"kannuki-time-1"}').toString('base64url')}.${Buffer.from(JSON.stringify(said)).toString('base64url')}.`;
    expect((await verifyTime(none)).kind).toBe('rejected');
    for (const junk of ['', '.', '..', 'a.b.c', 'é.é.é']) {
      expect((await verifyTime(junk)).kind).toBe('rejected');
      expect(namedKey(junk)).toBeUndefined();
    }
  });
});

describe('a signed statement, beside another implementation of JWS', () => {
  const payload = Buffer.from(JSON.stringify(said));

  it('is read by it, and what it makes is read here', async () => {
    const ours = await signStatement(statementType.time, said, privateKey);
    const read = await compactVerify(ours, publicKey, { algorithms: ['EdDSA'] });
    expect(read.protectedHeader).toEqual({ alg: 'EdDSA', typ: statementType.time, kid: namedKey(ours) });
    expect(JSON.parse(Buffer.from(read.payload).toString())).toEqual(said);
    const header = { alg: 'EdDSA', typ: statementType.time };
    const theirs = await new CompactSign(payload).setProtectedHeader(header).sign(privateKey);
    expect(await verifyTime(theirs)).toEqual({ kind: 'verified', value: said });
  });

  it('is refused where its header asks for what is not understood, though it is signed', async () => {
    const sealed = (header: object, body = payload): string => {
      const text = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${body.toString('base64url')}`;
      return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
    };
    const typ = statementType.time;
    expect(await verifyTime(sealed({ alg: 'EdDSA', typ }))).toMatchObject({ kind: 'verified' });
    const malformed = { kind: 'rejected', reason: 'malformed' };
    expect(await verifyTime(sealed({ alg: 'EdDSA', typ, crit: ['b64'], b64: false }))).toEqual(malformed);
    expect(await verifyTime(sealed({ alg: 'HS256', typ }))).toEqual(malformed);
    expect(await verifyTime(sealed({ typ }))).toEqual(malformed);
    expect(await verifyTime(sealed({ alg: 'EdDSA', typ }, Buffer.from('{"at":')))).toEqual(malformed);
    const good = sealed({ alg: 'EdDSA', typ });
    for (const changed of [`${good}.`, `${good}=`, ` ${good}`, `${good}\n`, good.replace('.', '..')]) {
      expect(await verifyTime(changed)).toEqual(malformed);
    }
    expect(await verifyTime(good.slice(0, -4))).toEqual({ kind: 'rejected', reason: 'wrong-signature' });
  });
});

describe('a sealed box', () => {
  const receiver = createSealKey();
  const secret = new Uint8Array(32).fill(7);

  it('opens for its receiver and its purpose only, and only unchanged', () => {
    const box = sealFor(receiver.publicKey, 'lookup key', secret);
    expect(openSealed(receiver.privateKey, 'lookup key', box)).toEqual(secret);
    expect(openSealed(receiver.privateKey, 'card', box)).toBeUndefined();
    expect(openSealed(createSealKey().privateKey, 'lookup key', box)).toBeUndefined();
    const bytes = Buffer.from(box, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(openSealed(receiver.privateKey, 'lookup key', changed.toString('base64url'))).toBeUndefined();
      expect(
        openSealed(receiver.privateKey, 'lookup key', bytes.subarray(0, at).toString('base64url')),
      ).toBeUndefined();
    }
  });

  it('never looks the same twice', () => {
    expect(sealFor(receiver.publicKey, 'card', secret)).not.toBe(sealFor(receiver.publicKey, 'card', secret));
  });
});
