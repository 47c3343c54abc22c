/**
 * A refusal as it leaves over HTTP: problem+json (RFC 9457) with a stable code, and sentences in the caller's language.
 *
 * A program matches `code` and `fields[].key`; the sentences may change. Nothing of the server's inside is told.
 */
import { type Code, codeHttpStatus, codeRemedy, codeText, type Language } from '#shared/code.ts';
import type { Refusal } from './answer.ts';
import { spokenIssue } from './field-issue.ts';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: Code;
  readonly remedy: string;
  readonly request: string;
  readonly fields?: readonly Record<string, string>[];
  readonly current?: unknown;
}

export function problemOf(refusal: Refusal, language: Language, requestId: string): Problem {
  const { refused: code, fields, current } = refusal;
  return {
    type: `/v1/docs#${code}`,
    title: codeText(code, language),
    status: codeHttpStatus(code),
    code,
    remedy: codeRemedy(code, language),
    request: requestId,
    ...(fields === undefined ? {} : { fields: fields.map((issue) => spokenIssue(issue, language)) }),
    ...(current === undefined ? {} : { current }),
  };
}

/** Leaves a handler or a hook at once; the server answers with the problem. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly code: Code;
  readonly refusal: Refusal;
  /** Seconds after which it is worth asking again. */
  readonly retryAfterS: number | undefined;

  constructor(refusal: Refusal, retryAfterS?: number) {
    super(refusal.refused);
    this.code = refusal.refused;
    this.refusal = refusal;
    this.retryAfterS = retryAfterS;
  }
}

/** The language a person prefers: Japanese or English by Accept-Language, the first of the two that is named, else English. */
export function preferredLanguage(header: string | undefined): Language {
  let best: { readonly language: Language; readonly weight: number } = { language: 'en', weight: 0 };
  for (const part of (header ?? '').slice(0, 256).split(',')) {
    const [tag = '', ...options] = part.trim().toLowerCase().split(';');
    const language = tag.split('-')[0];
    if (language !== 'ja' && language !== 'en') continue;
    const quality = options.map((option) => option.trim()).find((option) => option.startsWith('q='));
    const weight = quality === undefined ? 1 : Number(quality.slice(2));
    if (weight > best.weight) best = { language, weight };
  }
  return best.language;
}
