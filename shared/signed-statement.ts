/**
 * Statements that carry authority, as compact JWS by Ed25519.
 *
 * Guarantees: only `EdDSA` is accepted, only the `typ` that was asked for, only the key that was given, and what the
 * schema of that statement allows; anything else is a refusal with its reason, never a throw.
 * Not promised: who may say it, when it was said, or that it was not said before. Those are for whoever reads it.
 */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import type * as z from 'zod';
import type { StatementType } from './contract/sync/statement.ts';
import { invariant } from './invariant.ts';

export type Verified<Value> =
  | { readonly kind: 'verified'; readonly value: Value }
  | { readonly kind: 'rejected'; readonly reason: 'malformed' | 'wrong-type' | 'wrong-signature' | 'wrong-shape' };

const algorithm = 'EdDSA';

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
  invariant(key.asymmetricKeyType === 'ed25519', 'statements are signed by Ed25519');
  const header = { alg: algorithm, typ: type, kid: keyName(rawPublicKey(key)) };
  const said = `${encodeJson(header)}.${encodeJson(value)}`;
  return `${said}.${toBase64url(sign(null, Buffer.from(said, 'ascii'), key))}`;
}

const encodeJson = (value: unknown): string => Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');

/** Three parts in base64url without padding (RFC 7515, 7.1). */
const compactPattern = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/;

/** @param key of whoever must have said it, never taken from the statement itself. */
export async function verifyStatement<Schema extends z.ZodType>(
  type: StatementType,
  schema: Schema,
  jws: string,
  key: KeyObject,
): Promise<Verified<z.output<Schema>>> {
  invariant(key.asymmetricKeyType === 'ed25519', 'statements are signed by Ed25519');
  const [, header = '', payload = '', signature = ''] = compactPattern.exec(jws) ?? [];
  const { alg, typ, crit } = headerOf(header);
  // What `crit` names must be understood (RFC 7515, 4.1.11), and nothing is.
  if (alg !== algorithm || crit !== undefined) return { kind: 'rejected', reason: 'malformed' };
  const isSigned = verify(null, Buffer.from(`${header}.${payload}`, 'ascii'), key, fromBase64url(signature));
  if (!isSigned) return { kind: 'rejected', reason: 'wrong-signature' };
  if (typ !== type) return { kind: 'rejected', reason: 'wrong-type' };
  const said = jsonOf(payload);
  if (said === undefined) return { kind: 'rejected', reason: 'malformed' };
  const parsed = schema.safeParse(said);
  return parsed.success ? { kind: 'verified', value: parsed.data } : { kind: 'rejected', reason: 'wrong-shape' };
}

interface Header {
  readonly alg?: unknown;
  readonly typ?: unknown;
  readonly kid?: unknown;
  readonly crit?: unknown;
}

/** @returns nothing in it where it is none. */
function headerOf(part: string): Header {
  const header = jsonOf(part);
  return typeof header === 'object' && header !== null ? header : {};
}

/** @returns `undefined` where it is no JSON. */
function jsonOf(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The `kid` of a statement that is not verified yet: which of several known keys to try. */
export function namedKey(jws: string): string | undefined {
  const { kid } = headerOf(jws.slice(0, jws.indexOf('.')));
  return typeof kid === 'string' ? kid : undefined;
}
