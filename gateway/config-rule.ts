/** The rules of a configuration in plain words, whatever the library calls them. */
import * as z from 'zod';

/** A whole number within bounds, both of which every complaint tells. */
export function whole(min: number, max: number) {
  const error = ({ input }: { readonly input?: unknown }) =>
    input === undefined ? missing : `must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** TLS, or this machine itself; what edge would refuse to call is a mistake of the file already. */
export function isCloudUrl(url: string): boolean {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || parsed.username !== '' || parsed.password !== '') return false;
  if (parsed.protocol === 'https:') return true;
  return parsed.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(parsed.hostname);
}

const missing = 'is missing';
const typeNames: Readonly<Record<string, string>> = {
  string: 'must be text',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be keys with values',
};

export function configRule(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return `unknown key ${issue.keys.map((key) => `"${key}"`).join(', ')}`;
    case 'invalid_type':
      if (!issue.message.startsWith('Invalid')) return issue.message;
      return issue.message.endsWith('undefined') ? missing : (typeNames[issue.expected] ?? `must be ${issue.expected}`);
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      return issue.message.startsWith('Too') ? smallRule(issue) : issue.message;
    case 'too_big':
      return issue.message.startsWith('Too')
        ? `must be at most ${issue.maximum}${unitOf(issue.origin)}`
        : issue.message;
    default:
      return issue.message;
  }
}

const smallRule = ({ origin, minimum }: z.core.$ZodIssueTooSmall): string =>
  minimum === 1 && origin === 'string' ? 'must not be empty' : `must be at least ${minimum}${unitOf(origin)}`;

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}
