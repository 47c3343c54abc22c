/**
 * The demonstration's operator: signs in to the cloud and asks of it what anybody could ask over its HTTP API.
 *
 * Every change carries a key made of what it asks for, so that a set-up that was ended half-way is simply done again.
 */
import { createHash } from 'node:crypto';

export interface Operator {
  readonly facility: string;
  readonly email: string;
  readonly password: string;
}

export interface CloudApi {
  get<Answer>(path: string): Promise<Answer>;
  /** @throws ApiRefusal */
  post<Answer>(path: string, body: unknown): Promise<Answer>;
  put<Answer>(path: string, body: unknown): Promise<Answer>;
}

/** The cloud said no, and why. */
export class ApiRefusal extends Error {
  readonly code: string;
  readonly status: number;

  constructor(path: string, status: number, problem: { readonly code?: string; readonly detail?: string }) {
    super(`${path}: ${problem.code ?? status}${problem.detail === undefined ? '' : ` (${problem.detail})`}`);
    this.code = problem.code ?? 'UNKNOWN';
    this.status = status;
  }
}

type Method = 'GET' | 'POST' | 'PUT';
const withinMs = 30_000;

/** @param url of the cloud. Paths are meant below the facility, or from the root where they begin with a slash. */
export async function openApi(url: string, operator: Operator): Promise<CloudApi> {
  const { email, password, facility } = operator;
  let authorization: string | undefined;
  const ask = async <Answer>(method: Method, path: string, body?: unknown): Promise<Answer> => {
    const at = path.startsWith('/') ? path : `/v1/facilities/${facility}/${path}`;
    const answer = await fetch(url + at, {
      ...requestOf(method, { at, body, authorization }),
      signal: AbortSignal.timeout(withinMs),
    });
    const said: unknown = await answer.json();
    if (!answer.ok) throw new ApiRefusal(at, answer.status, said as { code?: string });
    return said as Answer;
  };
  const session = await ask<{ accessToken: string }>('POST', '/v1/sessions', { email, password });
  authorization = `Bearer ${session.accessToken}`;
  return {
    get: (path) => ask('GET', path),
    post: (path, body) => ask('POST', path, body),
    put: (path, body) => ask('PUT', path, body),
  };
}

interface Asked {
  readonly at: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
}

function requestOf(method: Method, { at, body, authorization }: Asked): RequestInit {
  const known = authorization === undefined ? {} : { authorization };
  if (body === undefined) return { method, headers: known };
  const text = JSON.stringify(body);
  const key = createHash('sha256').update(`${method} ${at}\n${text}`).digest('hex').slice(0, 32);
  return { method, body: text, headers: { ...known, 'content-type': 'application/json', 'idempotency-key': key } };
}
