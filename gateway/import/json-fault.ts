/**
 * Where a text stops being JSON, which JSON.parse does not reliably tell, and what it tells repeats the text, PINs and all.
 */

type Kind = '{' | '}' | '[' | ']' | ':' | ',' | 'string' | 'scalar';
type State = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

const values: readonly Kind[] = ['{', '[', 'string', 'scalar'];
/** What may come next; whether a closing bracket is the right one is seen by what is open. */
const allowed: Readonly<Record<State, readonly Kind[]>> = {
  value: values,
  'value-or-end': [...values, ']'],
  key: ['string'],
  'key-or-end': ['string', '}'],
  colon: [':'],
  'comma-or-end': [',', '}', ']'],
  nothing: [],
};

const spaces = /[ \t\r\n]*/y;
const scalars = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** @returns the offset of the first token that cannot stand there; the length where the text ends too early. */
export function jsonFaultOffset(text: string): number {
  const open: ('{' | '[')[] = [];
  let state: State = 'value';
  let at = endOf(spaces, text, 0);
  for (;;) {
    const token = tokenAt(text, at);
    if (token === undefined || !allowed[state].includes(token.kind)) return at;
    const isKey: boolean = token.kind === 'string' && (state === 'key' || state === 'key-or-end');
    const next: State | undefined = isKey ? 'colon' : stateAfter(token.kind, open);
    if (next === undefined) return at;
    state = next;
    at = endOf(spaces, text, token.end);
  }
}

function stateAfter(kind: Kind, open: ('{' | '[')[]): State | undefined {
  switch (kind) {
    case '{':
      open.push(kind);
      return 'key-or-end';
    case '[':
      open.push(kind);
      return 'value-or-end';
    case ':':
      return 'value';
    case ',':
      return open.at(-1) === '{' ? 'key' : 'value';
    case '}':
    case ']':
      if (open.pop() !== (kind === '}' ? '{' : '[')) return undefined;
      break;
    case 'string':
    case 'scalar':
      break;
  }
  return open.length === 0 ? 'nothing' : 'comma-or-end';
}

interface Token {
  readonly kind: Kind;
  readonly end: number;
}

function tokenAt(text: string, at: number): Token | undefined {
  const sign = text.charAt(at);
  switch (sign) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
      return { kind: sign, end: at + 1 };
    case '"':
      return stringAt(text, at);
    default: {
      const end = endOf(scalars, text, at);
      return end === at ? undefined : { kind: 'scalar', end };
    }
  }
}

function stringAt(text: string, from: number): Token | undefined {
  let at = from + 1;
  while (at < text.length) {
    const sign = text.charAt(at);
    if (sign === '"') return { kind: 'string', end: at + 1 };
    const end = sign === '\\' ? endOf(escapes, text, at) : at + 1;
    if (end === at || sign < ' ') return undefined;
    at = end;
  }
  return undefined;
}

/** Where a sticky expression that begins at `at` ends; `at` where it does not match. */
function endOf(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
}
