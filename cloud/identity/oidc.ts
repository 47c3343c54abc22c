/**
 * Signing in with another provider: OpenID Connect, authorization code with PKCE, any provider that publishes its keys.
 *
 * Guarantees: an answer is taken once, for an attempt that we began, within ten minutes; the ID token's signature, issuer,
 * audience, nonce and times are verified; the provider is asked under deadlines and never by another address than its own.
 * Not promised: signing out at the provider.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { sql } from 'kysely';
import * as z from 'zod';
import type { Database } from '#cloud/database/pool.ts';
import { setLocal, type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { type Refused, refused } from '#shared/outcome.ts';
import type { Sealer } from './sealed-value.ts';

export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  /** The page that takes the provider's answer. */
  readonly redirectUri: string;
}

export interface OidcPerson {
  readonly status: 'known';
  readonly issuer: string;
  readonly subject: string;
  /** Lower case; absent where the provider did not verify it. */
  readonly verifiedEmail?: string;
  readonly name?: string;
}

export interface Oidc {
  /** Where the person goes. The state comes back with the answer. */
  readonly start: () => Promise<{ readonly url: string; readonly state: string } | Refused>;
  readonly finish: (answer: { readonly state: string; readonly code: string }) => Promise<OidcPerson | Refused>;
}

const providerSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
});
type Provider = z.infer<typeof providerSchema> & { readonly keys: ReturnType<typeof createRemoteJWKSet> };

const tokenAnswer = z.object({ id_token: z.string().max(32_768) });
const idClaims = z.object({
  sub: z.string().min(1).max(255),
  nonce: z.string(),
  email: z.email().max(254).optional(),
  email_verified: z.boolean().optional(),
  name: z.string().max(1000).optional(),
});

const askMs = 8_000;
const answerMax = 65_536;
const providerKeptMs = 3_600_000;
const attemptMinutes = 10;
const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];

interface OidcParts {
  readonly database: Database;
  readonly sealer: Sealer;
  readonly settings: OidcSettings;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export function createOidc(parts: OidcParts): Oidc {
  const provider = rememberProvider(parts);
  return {
    start: () => unlessUnavailable(async () => start(parts, await provider())),
    finish: (answer) => unlessUnavailable(async () => finish(parts, await provider(), answer)),
  };
}

/** The provider did not answer, or not as one. */
class ProviderUnavailable extends Error {
  readonly code = 'OIDC_UNAVAILABLE';
}

async function unlessUnavailable<Result>(work: () => Promise<Result>): Promise<Result | Refused> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProviderUnavailable) return refused('OIDC_UNAVAILABLE');
    throw error;
  }
}

function rememberProvider({ settings, now }: OidcParts): () => Promise<Provider> {
  let known: { readonly provider: Provider; readonly until: number } | undefined;
  return async () => {
    if (known && now() < known.until) return known.provider;
    const url = `${settings.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const found = await ask(url, {}, providerSchema);
    if (found === undefined || found.issuer !== settings.issuer) {
      throw new ProviderUnavailable(`${url} does not describe ${settings.issuer}`);
    }
    const keys = createRemoteJWKSet(new URL(found.jwks_uri), { timeoutDuration: askMs });
    const provider = { ...found, keys };
    known = { provider, until: now() + providerKeptMs };
    return provider;
  };
}

/** @returns `undefined` where the answer is a refusal or not in form. @throws ProviderUnavailable. */
async function ask<Schema extends z.ZodType>(
  url: string,
  init: RequestInit,
  schema: Schema,
): Promise<z.infer<Schema> | undefined> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(askMs) });
    if (response.status >= 500) throw new ProviderUnavailable(`${url} answers ${response.status}`);
    const text = await response.text();
    if (!response.ok || text.length > answerMax) return undefined;
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw new ProviderUnavailable(`${url} does not answer`, { cause: error });
  }
}

const stateId = (state: string): string => createHash('sha256').update(state, 'utf8').digest('hex');
const sealName = (id: string): string => `oidc verifier ${id}`;

function atAttempt<Result>(
  { database }: OidcParts,
  id: string,
  work: (transaction: TenantTransaction) => Promise<Result>,
): Promise<Result> {
  return tenantTransaction(database, { actor: 'entrance', facilityIds: [] }, async (transaction) => {
    await setLocal(transaction, { 'app.entrance': id });
    return work(transaction);
  });
}

async function start(parts: OidcParts, provider: Provider): Promise<{ readonly url: string; readonly state: string }> {
  const { settings, sealer } = parts;
  const [state, nonce, verifier] = [random(), random(), random()];
  const id = stateId(state);
  await atAttempt(parts, id, (transaction) =>
    transaction
      .insertInto('oidc_attempt')
      .values({
        id,
        nonce,
        verifier_sealed: sealer.seal(sealName(id), Buffer.from(verifier, 'utf8')),
        expires_at: sql<Date>`now() + make_interval(mins => ${attemptMinutes})`,
      })
      .execute(),
  );
  const url = new URL(provider.authorization_endpoint);
  const query = {
    response_type: 'code',
    client_id: settings.clientId,
    redirect_uri: settings.redirectUri,
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: createHash('sha256').update(verifier, 'utf8').digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { url: url.href, state };
}

const random = (): string => randomBytes(32).toString('base64url');

async function finish(
  parts: OidcParts,
  provider: Provider,
  answer: { readonly state: string; readonly code: string },
): Promise<OidcPerson | Refused> {
  const id = stateId(answer.state);
  // Taken away before the provider is asked: an answer that comes twice is refused the second time.
  const attempt = await atAttempt(parts, id, (transaction) =>
    transaction
      .deleteFrom('oidc_attempt')
      .where('id', '=', id)
      .returning(['nonce', 'verifier_sealed', sql<boolean>`expires_at > now()`.as('is_open')])
      .executeTakeFirst(),
  );
  if (!attempt?.is_open) return refused('OIDC_FAILED');
  const verifier = parts.sealer.open(sealName(id), attempt.verifier_sealed).toString('utf8');
  const exchanged = await exchange(parts.settings, provider, { code: answer.code, verifier });
  if (!exchanged) return refused('OIDC_FAILED');
  return personOf(parts.settings, provider, { idToken: exchanged.id_token, nonce: attempt.nonce });
}

function exchange(
  settings: OidcSettings,
  provider: Provider,
  proof: { readonly code: string; readonly verifier: string },
) {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: proof.code,
    code_verifier: proof.verifier,
    redirect_uri: settings.redirectUri,
    client_id: settings.clientId,
  });
  const { clientId, clientSecret } = settings;
  const basic = clientSecret && btoa(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`);
  const headers = { accept: 'application/json', ...(basic ? { authorization: `Basic ${basic}` } : {}) };
  return ask(provider.token_endpoint, { method: 'POST', body, headers }, tokenAnswer);
}

/** As RFC 6749 §2.3.1 wants both halves. */
const formEncoded = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+');

async function personOf(
  settings: OidcSettings,
  provider: Provider,
  given: { readonly idToken: string; readonly nonce: string },
): Promise<OidcPerson | Refused> {
  try {
    const { payload } = await jwtVerify(given.idToken, provider.keys, {
      issuer: settings.issuer,
      audience: settings.clientId,
      algorithms,
      requiredClaims: ['exp', 'iat', 'sub'],
      clockTolerance: 30,
    });
    const claims = idClaims.safeParse(payload);
    if (!claims.success || claims.data.nonce !== given.nonce) return refused('OIDC_FAILED');
    const { sub, email, email_verified: isVerified, name } = claims.data;
    return {
      status: 'known',
      issuer: settings.issuer,
      subject: sub,
      ...(email !== undefined && isVerified === true ? { verifiedEmail: email.toLowerCase() } : {}),
      ...(name === undefined ? {} : { name }),
    };
  } catch (error) {
    if (error instanceof errors.JWKSTimeout) throw new ProviderUnavailable('its keys', { cause: error });
    if (error instanceof errors.JOSEError) return refused('OIDC_FAILED');
    throw new ProviderUnavailable('its keys', { cause: error });
  }
}
