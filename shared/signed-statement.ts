/**
 * Statements that carry authority, as compact JWS by Ed25519.
 *
 * Guarantees: only `EdDSA` is accepted, only the `typ` that was asked for, only the key that was given, and what the
 * schema of that statement allows; anything else is a refusal with its reason, never a throw.
 * Not promised: who may say it, when it was said, or that it was not said before. Those are for whoever reads it.
 */
import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';
import { CompactSign, compactVerify, errors } from 'jose';
import type * as z from 'zod';
import type { StatementType } from './contract/sync/statement.ts';

export type Verified<Value> =
  | { readonly kind: 'verified'; readonly value: Value }
  | { readonly kind: 'rejected'; readonly reason: 'malformed' | 'wrong-type' | 'wrong-signature' | 'wrong-shape' };

/** Raw bytes as base64url without padding; as keys, nonces and salts travel. */
export const toBase64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
export const fromBase64url = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'));

/** @param raw Ed25519 public key, 32 bytes. */
export function publicSignKey(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: toBase64url(raw) }, format: 'jwk' });
}

/** @param pkcs8 DER of an Ed25519 private key. */
export function privateSignKey(pkcs8: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' });
}

/** Raw public bytes of an Ed25519 or X25519 key, public or private; 32 bytes. */
export function rawPublicKey(key: KeyObject): Uint8Array {
  const { x } = key.export({ format: 'jwk' });
  return fromBase64url(x ?? '');
}

/** Names a key: the first 16 hexadecimal digits of the SHA-256 of its raw bytes. */
const keyName = (raw: Uint8Array): string => hash('sha256', raw, 'hex').slice(0, 16);

/** @param value what the statement's schema would parse; JSON. */
export async function signStatement(type: StatementType, value: unknown, key: KeyObject): Promise<string> {
  const kid = keyName(rawPublicKey(key));
  return await new CompactSign(Buffer.from(JSON.stringify(value), 'utf8'))
    .setProtectedHeader({ alg: 'EdDSA', typ: type, kid })
    .sign(key);
}

/** @param key of whoever must have said it, never taken from the statement itself. */
export async function verifyStatement<Schema extends z.ZodType>(
  type: StatementType,
  schema: Schema,
  jws: string,
  key: KeyObject,
): Promise<Verified<z.output<Schema>>> {
  try {
    const { payload, protectedHeader } = await compactVerify(jws, key, { algorithms: ['EdDSA'] });
    if (protectedHeader.typ !== type) return { kind: 'rejected', reason: 'wrong-type' };
    const parsed = schema.safeParse(JSON.parse(Buffer.from(payload).toString('utf8')));
    return parsed.success ? { kind: 'verified', value: parsed.data } : { kind: 'rejected', reason: 'wrong-shape' };
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return { kind: 'rejected', reason: 'wrong-signature' };
    if (error instanceof errors.JOSEError || error instanceof SyntaxError)
      return { kind: 'rejected', reason: 'malformed' };
    throw error;
  }
}

/** The `kid` of a statement that is not verified yet: which of several known keys to try. */
export function namedKey(jws: string): string | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(jws.slice(0, jws.indexOf('.')), 'base64url').toString('utf8'));
    const kid = typeof header === 'object' && header !== null && 'kid' in header ? header.kid : undefined;
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}
