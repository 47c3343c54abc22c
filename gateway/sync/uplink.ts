/**
 * The way to the cloud: one HTTPS client, and every way in which it can fail, told apart.
 *
 * Guarantees: the cloud's certificate is verified, always; nothing switches that off, not the environment either. Plain
 * HTTP only to this machine itself. Every call has a deadline, every answer a limit, and no redirect is followed.
 * Not promised: that who answers speaks for the cloud. What counts is signed, and the door process proves it.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { isCloudUrl } from '../config-rule.ts';
import type { CallFailure } from './call-failure.ts';
import { failureOfError, retryAfterMs } from './uplink-failure.ts';

export interface CloudAddress {
  /** `https://host[:port]`, or `http://` to a loopback address. */
  readonly url: string;
  /** PEM file of the only authorities that count, where the public ones do not. */
  readonly caFile?: string | undefined;
}

export interface UplinkRequest {
  readonly method: 'GET' | 'POST';
  /** With its query, beginning with `/`. */
  readonly path: string;
  readonly body?: Uint8Array;
  readonly authorization?: string;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

export type UplinkAnswer =
  | { readonly kind: 'ok'; readonly value: unknown }
  | {
      readonly kind: 'failed';
      readonly why: CallFailure;
      readonly detail: string;
      readonly retryAfterMs?: number;
      /** Code and rest of a refusal in JSON. */
      readonly code?: string;
      readonly current?: unknown;
    };

/** Longest answer, bytes; a chunk of a snapshot is the longest. */
const answerBytesMax = 2 * 1024 * 1024;
const connectMs = 10_000;
const connectionsMax = 4;

export class Uplink {
  readonly #origin: string;
  readonly #agent: Agent;

  /** @throws TypeError for an address that may not be called; a fault of the disk for the file of authorities. */
  constructor({ url, caFile }: CloudAddress) {
    if (!isCloudUrl(url)) throw new TypeError(`${url} is neither https nor a loopback address`);
    this.#origin = new URL(url).origin;
    const ca = caFile === undefined ? {} : { ca: readFileSync(caFile) };
    this.#agent = new Agent({
      connections: connectionsMax,
      pipelining: 1,
      maxResponseSize: answerBytesMax,
      // Said here, where NODE_TLS_REJECT_UNAUTHORIZED cannot change it.
      connect: { ...ca, rejectUnauthorized: true, timeout: connectMs },
    });
  }

  async call({ method, path, body, authorization, deadlineMs, signal }: UplinkRequest): Promise<UplinkAnswer> {
    const deadline = AbortSignal.timeout(deadlineMs);
    try {
      const response = await request(this.#origin + path, {
        method,
        dispatcher: this.#agent,
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
        headersTimeout: deadlineMs,
        bodyTimeout: deadlineMs,
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(authorization === undefined ? {} : { authorization }),
        },
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.body.text();
      return answerOf(response.statusCode, response.headers, text);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { kind: 'failed', ...failureOfError(error) };
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function answerOf(status: number, headers: Headers, text: string): UplinkAnswer {
  const value = isJson(headers['content-type']) ? jsonOf(text) : undefined;
  if (status === 200 && value !== undefined) return { kind: 'ok', value };
  // A page where JSON was due, or a detour to one: somebody else answers here.
  const isPage = status < 400 || status === 511;
  if (isPage) return failed('captive-portal', `status ${status}, ${String(headers['content-type'] ?? 'no type')}`);
  const problem = value !== null && typeof value === 'object' ? (value as { code?: unknown; current?: unknown }) : {};
  const code = typeof problem.code === 'string' ? problem.code.slice(0, 64) : undefined;
  const wait = retryAfterMs(headers['retry-after'], Date.now());
  return {
    ...failed(failureOfStatus(status, code), `status ${status}${code === undefined ? '' : ` ${code}`}`),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(code === undefined ? {} : { code, current: problem.current }),
  };
}

const failed = (why: CallFailure, detail: string): Extract<UplinkAnswer, { kind: 'failed' }> => ({
  kind: 'failed',
  why,
  detail,
});

function failureOfStatus(status: number, code: string | undefined): CallFailure {
  switch (status) {
    case 401:
      return code === 'TRANSPORT_TOKEN_OUTDATED' ? 'clock-skewed' : 'unauthorized';
    case 403:
      return code === 'GATEWAY_NOT_CONFIRMED' ? 'unauthorized' : 'revoked';
    case 409:
      return 'conflict';
    case 413:
      return 'too-large';
    case 429:
    case 503:
      return 'busy';
    default:
      return status >= 500 ? 'cloud-fault' : 'malformed';
  }
}

const isJson = (type: string | string[] | undefined): boolean =>
  typeof type === 'string' && /^application\/([a-z.+-]+\+)?json\b/i.test(type);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
