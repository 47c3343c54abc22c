/**
 * On which line each row of a JSON import set begins, which JSON.parse does not tell.
 *
 * Walks the brackets and strings of a text that has already been parsed, so it is known to be JSON.
 */

/** @returns lines from 1: of each item of each array at the top level, and of each other value there, as one item. */
export function itemLines(text: string): ReadonlyMap<string, readonly number[]> {
  const lines = new Map<string, number[]>();
  const walk = { line: 1, depth: 0, section: '', expectsItem: false, lastText: '' };
  let at = 0;
  while (at < text.length) {
    const sign = text.charAt(at);
    if (sign === '"') {
      const end = endOfString(text, at);
      if (walk.expectsItem) note(lines, walk);
      walk.lastText = text.slice(at, end);
      at = end;
      continue;
    }
    step(sign, walk, lines);
    at += 1;
  }
  return lines;
}

interface Walk {
  line: number;
  depth: number;
  section: string;
  /** The next sign that is not white space begins an item. */
  expectsItem: boolean;
  lastText: string;
}

const spaces = new Set([' ', '\t', '\r', '\n']);

function step(sign: string, walk: Walk, lines: Map<string, number[]>): void {
  if (sign === '\n') walk.line += 1;
  if (spaces.has(sign)) return;
  if (sign === ':' || sign === ',') separate(sign, walk);
  else if (sign === ']' || sign === '}') {
    walk.depth -= 1;
    walk.expectsItem = false;
  } else begin(sign, walk, lines);
}

function separate(sign: ':' | ',', walk: Walk): void {
  if (sign === ':' && walk.depth === 1) {
    walk.section = JSON.parse(walk.lastText) as string;
    walk.expectsItem = true;
  }
  if (sign === ',' && walk.depth === 2) walk.expectsItem = true;
}

function begin(sign: string, walk: Walk, lines: Map<string, number[]>): void {
  // Of an array at the top its items count, not itself.
  const isSectionArray = sign === '[' && walk.depth === 1;
  if (walk.expectsItem && !isSectionArray) note(lines, walk);
  if (sign === '[' || sign === '{') walk.depth += 1;
}

function note(lines: Map<string, number[]>, walk: Walk): void {
  walk.expectsItem = false;
  const known = lines.get(walk.section);
  if (known === undefined) lines.set(walk.section, [walk.line]);
  else known.push(walk.line);
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
