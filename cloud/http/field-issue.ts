/** What is wrong with a request, field by field: the path, a key that a program matches, a sentence that a person reads. */
import type * as z from 'zod';
import type { Language } from '#shared/code.ts';
import { isMessageKey, type MessageKey, messageText } from '#shared/message-key.ts';

export interface FieldIssue {
  /** For example `/body/doors/0/name`, `/query/limit`. */
  readonly path: string;
  readonly key: MessageKey;
  /** The number, kind or list that the key's sentence names. */
  readonly limit?: string;
}

type ZodIssue = z.core.$ZodIssue;

/** More are consequences of the first. */
const issuesMax = 20;

/** @param part of the request: body, query, params, headers. */
export function fieldIssues(part: string, issues: readonly ZodIssue[]): readonly FieldIssue[] {
  return issues.flatMap((issue) => issuesOf(part, issue)).slice(0, issuesMax);
}

function issuesOf(part: string, issue: ZodIssue): readonly FieldIssue[] {
  const path = pointer([part, ...issue.path]);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => ({ path: `${path}${pointer([name])}`, key: 'field.unknown' }));
  }
  return [{ path, ...complaint(issue) }];
}

/** RFC 6901; a name from outside is cut, since it comes back in the answer. */
const pointer = (path: readonly PropertyKey[]): string =>
  path.map((step) => `/${String(step).slice(0, 64).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function complaint(issue: ZodIssue): Omit<FieldIssue, 'path'> {
  if (isMessageKey(issue.message)) return { key: issue.message };
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? { key: 'field.required' }
        : { key: 'field.wrong_type', limit: issue.expected };
    case 'invalid_value':
      return { key: 'field.not_allowed', limit: issue.values.map(String).join(', ') };
    case 'too_small':
      return sized(issue.origin, { small: 'field.too_small', short: 'field.too_short' }, String(issue.minimum));
    case 'too_big':
      return sized(issue.origin, { small: 'field.too_big', short: 'field.too_long' }, String(issue.maximum));
    case 'invalid_format':
      return { key: 'field.malformed' };
    default:
      return { key: 'field.invalid' };
  }
}

function sized(
  origin: string,
  keys: { readonly small: MessageKey; readonly short: MessageKey },
  limit: string,
): Omit<FieldIssue, 'path'> {
  return { key: ['string', 'array', 'set', 'map'].includes(origin) ? keys.short : keys.small, limit };
}

/** As it leaves: with its sentence. */
export function spokenIssue(issue: FieldIssue, language: Language): Record<string, string> {
  const limit = issue.limit === undefined ? {} : { limit: issue.limit };
  return { path: issue.path, key: issue.key, ...limit, message: messageText(issue.key, language, issue.limit) };
}
