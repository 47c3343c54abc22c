/**
 * Keys that stand twice in one object, of which JSON.parse silently keeps the last.
 *
 * Walks a text that has already been parsed, so it is known to be JSON.
 */
export interface TwinKey {
  readonly key: string;
  /** Of the second one, from 1. */
  readonly line: number;
  /** Whether it stands in the outermost object. */
  readonly isTop: boolean;
}

/** More are not told. */
const twinsMax = 100;
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],\n]/g;

interface Walk {
  line: number;
  expectsKey: boolean;
  /** The keys of each open object; `undefined` for an array. */
  readonly open: (Set<string> | undefined)[];
}

export function twinKeys(text: string): readonly TwinKey[] {
  const twins: TwinKey[] = [];
  const walk: Walk = { line: 1, expectsKey: false, open: [] };
  for (const [token] of text.matchAll(tokens)) {
    const twin = token.startsWith('"') ? takeString(token, walk) : step(token, walk);
    if (twin !== undefined) twins.push(twin);
    if (twins.length >= twinsMax) break;
  }
  return twins;
}

function takeString(token: string, walk: Walk): TwinKey | undefined {
  const keys = walk.open.at(-1);
  if (!walk.expectsKey || keys === undefined) return undefined;
  walk.expectsKey = false;
  const key = JSON.parse(token) as string;
  if (keys.has(key)) return { key, line: walk.line, isTop: walk.open.length === 1 };
  keys.add(key);
  return undefined;
}

function step(sign: string, walk: Walk): undefined {
  switch (sign) {
    case '\n':
      walk.line += 1;
      return;
    case '{':
    case '[':
      walk.open.push(sign === '{' ? new Set() : undefined);
      walk.expectsKey = sign === '{';
      return;
    case ',':
      walk.expectsKey = walk.open.at(-1) !== undefined;
      return;
    default:
      walk.open.pop();
      walk.expectsKey = false;
  }
}
