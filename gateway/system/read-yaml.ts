/**
 * YAML from a file that somebody wrote: a value with the places of its parts, or what is wrong with their lines.
 *
 * Never throws, whatever stands there: names without an anchor, aliases that multiply, nesting without end.
 */
import { type Document, isAlias, LineCounter, parseDocument, visit } from 'yaml';
import { printable } from '#shared/printable.ts';

export type YamlReading =
  | {
      readonly kind: 'value';
      readonly value: unknown;
      readonly document: Document;
      /** @returns the line of an offset in the text, from 1. */
      readonly lineAt: (offset: number) => number;
    }
  | { readonly kind: 'invalid'; readonly issues: readonly YamlIssue[] };

export interface YamlIssue {
  readonly line: number;
  readonly rule: string;
}

/** How many nodes aliases may stand for, beyond which they were written to exhaust whoever reads them. */
const aliasesMax = 100;
/** More are consequences of the first. */
const issuesMax = 20;

const tooDeep: YamlReading = { kind: 'invalid', issues: [{ line: 1, rule: 'is nested too deeply' }] };
/** The parser catches its own stack's end and tells it as a mistake, in the engine's words. */
const stackMessage = 'Maximum call stack';

export function readYaml(text: string): YamlReading {
  const counter = new LineCounter();
  const lineAt = (offset: number) => counter.linePos(offset).line || 1;
  let document: Document | undefined;
  try {
    document = parseDocument(text, { lineCounter: counter, uniqueKeys: true, logLevel: 'error' });
    const { errors } = document;
    const issues = errors
      .slice(0, issuesMax)
      .map(({ pos, message }) => ({ line: lineAt(pos[0]), rule: plain(message) }));
    if (issues.some(({ rule }) => rule.startsWith(stackMessage))) return tooDeep;
    if (issues.length > 0) return { kind: 'invalid', issues };
    return { kind: 'value', value: document.toJS({ maxAliasCount: aliasesMax }), document, lineAt };
  } catch (error) {
    if (error instanceof RangeError) return tooDeep;
    const alias = document === undefined ? undefined : wrongAlias(document);
    const issue = alias ?? { offset: 0, rule: `is no usable YAML: ${plain(String(error))}` };
    return { kind: 'invalid', issues: [{ line: lineAt(issue.offset), rule: issue.rule }] };
  }
}

/** The first line, without the place at its end. */
const plain = (message: string): string =>
  printable((message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:$/, ''));

/** @returns the first alias without an anchor, else the last there is, since they multiply. */
function wrongAlias(document: Document): { readonly offset: number; readonly rule: string } | undefined {
  let found: { readonly offset: number; readonly rule: string } | undefined;
  visit(document, {
    Alias: (_, alias) => {
      const offset = alias.range?.[0] ?? 0;
      const isKnown = isAlias(alias) && alias.resolve(document) !== undefined;
      if (isKnown) {
        found = { offset, rule: `*${printable(alias.source)} repeats more than a file may` };
        return undefined;
      }
      found = { offset, rule: `*${printable(alias.source)} names no anchor (a text that begins with * needs quotes)` };
      return visit.BREAK;
    },
  });
  return found;
}
