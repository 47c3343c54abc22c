/** Coming in, staying in, going out. */
import { sql } from 'kysely';
import * as z from 'zod';
import { created, ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { idText } from '#cloud/http/create-api.ts';
import { RequestRefused } from '#cloud/http/problem.ts';
import type { Refused } from '#shared/outcome.ts';
import { logIn } from './log-in.ts';
import { logInOidc } from './log-in-oidc.ts';
import type { Oidc } from './oidc.ts';
import { passwordLengthMax } from './password-rule.ts';
import { endSessions, refreshSession, type SessionParts, type SessionTokens } from './session.ts';

export interface SessionRouteParts {
  readonly sessions: SessionParts;
  /** Absent where no provider is set up. */
  readonly oidc?: Oidc | undefined;
}

export const emailText = z.email().trim().toLowerCase().max(254);
export const passwordText = z.string().min(1).max(passwordLengthMax);
const secretText = z.string().min(1).max(128);

export const tokensView = z.object({
  session: idText,
  user: idText,
  accessToken: z.string(),
  expiresInSeconds: z.int(),
  refreshToken: z.string().describe('Good for one refresh, which returns the next.'),
});

const guessesPerMinute = 30;

export const tokensAnswer = (result: SessionTokens | Refused) =>
  result.status === 'refused' ? refusal(result.code) : created(result);

export function sessionRoutes(api: Api, { sessions, oidc }: SessionRouteParts): void {
  api.openRoute({
    method: 'POST',
    url: '/v1/sessions',
    operation: 'logIn',
    summary: 'Opens a session with an e-mail address and a password.',
    tag: 'Sessions',
    perMinute: guessesPerMinute,
    body: z.strictObject({ email: emailText, password: passwordText }),
    answers: { 201: tokensView },
    refusals: ['LOGIN_FAILED', 'LOGIN_LOCKED'],
    handle: async ({ body }) => {
      const result = await logIn(sessions, body);
      if (result.status === 'locked') throw new RequestRefused({ refused: 'LOGIN_LOCKED' }, result.retryAfterS);
      return tokensAnswer(result);
    },
  });
  api.openRoute({
    method: 'POST',
    url: '/v1/sessions/refresh',
    operation: 'refreshSession',
    summary: 'Gives a new access token, with the roles as they stand now.',
    tag: 'Sessions',
    body: z.strictObject({ refreshToken: secretText }),
    answers: { 201: tokensView },
    refusals: ['SESSION_ENDED'],
    handle: async ({ body }) => tokensAnswer(await refreshSession(sessions, body.refreshToken)),
  });
  endingRoutes(api);
  providerRoutes(api, sessions, oidc);
}

function endingRoutes(api: Api): void {
  api.route({
    method: 'GET',
    url: '/v1/sessions',
    operation: 'listSessions',
    summary: 'Your own open sessions.',
    tag: 'Sessions',
    access: 'signed-in',
    answers: {
      200: z.object({ items: z.array(z.object({ id: idText, createdAt: z.string(), endsAt: z.string() })) }),
    },
    handle: async ({ transaction, caller }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      const rows = await transaction
        .selectFrom('user_session')
        .select(['id', 'created_at', 'ends_at'])
        .where('ended_at', 'is', null)
        .where('ends_at', '>', sql<Date>`now()`)
        .where('idle_until', '>', sql<Date>`now()`)
        .orderBy('id', 'desc')
        .limit(100)
        .execute();
      const items = rows.map((row) => ({
        id: row.id,
        createdAt: row.created_at.toISOString(),
        endsAt: row.ends_at.toISOString(),
      }));
      return ok({ items });
    },
  });
  for (const { url, operation, summary } of endings) {
    api.route({
      method: 'DELETE',
      url,
      operation,
      summary,
      tag: 'Sessions',
      access: 'signed-in',
      answers: { 200: z.object({ ended: z.literal(true) }) },
      handle: async ({ transaction, caller }) => {
        if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
        await endSessions(transaction, url.endsWith('/current') ? caller.sessionId : undefined);
        return ok({ ended: true });
      },
    });
  }
}

const endings = [
  { url: '/v1/sessions/current', operation: 'logOut', summary: 'Ends this session; its tokens are nobody at once.' },
  { url: '/v1/sessions', operation: 'logOutEverywhere', summary: 'Ends all of your sessions.' },
] as const;

function providerRoutes(api: Api, sessions: SessionParts, oidc: Oidc | undefined): void {
  api.openRoute({
    method: 'POST',
    url: '/v1/sessions/oidc/start',
    operation: 'startOidc',
    summary: 'Begins signing in with the provider: where the person goes.',
    tag: 'Sessions',
    perMinute: guessesPerMinute,
    answers: { 201: z.object({ url: z.string(), state: z.string() }) },
    refusals: ['OIDC_OFF', 'OIDC_UNAVAILABLE'],
    handle: async () => {
      const begun = oidc ? await oidc.start() : refusal('OIDC_OFF');
      if ('refused' in begun) return begun;
      return 'code' in begun ? refusal(begun.code) : created(begun);
    },
  });
  api.openRoute({
    method: 'POST',
    url: '/v1/sessions/oidc/finish',
    operation: 'finishOidc',
    summary: 'Opens a session with the provider’s answer; an invitation makes a new person known.',
    tag: 'Sessions',
    perMinute: guessesPerMinute,
    body: z.strictObject({ state: secretText, code: z.string().min(1).max(2048), invitation: secretText.optional() }),
    answers: { 201: tokensView },
    refusals: ['OIDC_OFF', 'OIDC_FAILED', 'OIDC_UNAVAILABLE', 'USER_UNKNOWN'],
    handle: async ({ body: { state, code, invitation } }) => {
      if (!oidc) return refusal('OIDC_OFF');
      const person = await oidc.finish({ state, code });
      if (person.status === 'refused') return refusal(person.code);
      return tokensAnswer(await logInOidc(sessions, person, invitation));
    },
  });
}
