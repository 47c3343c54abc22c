/**
 * What is wrong in an import set, said so that it can be put right: where, which field, which rule, and an example.
 *
 * At most `issuesMax` are kept; the rest is counted.
 */
import { printable } from '#shared/printable.ts';
import type { Section } from './section.ts';

export interface SourcePlace {
  readonly file: string;
  /** Line in the file, from 1, on which the row begins. */
  readonly line: number;
  /** The row as its file counts it: `doors[3]` in JSON, `row 4` in CSV. */
  readonly row: string;
}

export interface ImportIssue {
  readonly place: SourcePlace;
  /** Empty where the row as a whole is meant. */
  readonly field: string;
  /** Completes “<field> …”: `must be one of …`, `names no door`. */
  readonly rule: string;
  /** A value that would do; empty where none helps. */
  readonly example: string;
}

const issuesMax = 100;

export class ImportIssues {
  readonly #issues: ImportIssue[] = [];
  #left = 0;
  readonly #partial = new Set<Section>();

  add(issue: ImportIssue): void {
    if (this.#issues.length < issuesMax) this.#issues.push(issue);
    else this.#left += 1;
  }

  /** Rows of these sections could not be read; what names them cannot be judged. */
  markPartial(missing: readonly Section[]): void {
    for (const section of missing) this.#partial.add(section);
  }

  isPartial(section: Section): boolean {
    return this.#partial.has(section);
  }

  get count(): number {
    return this.#issues.length + this.#left;
  }

  /** One sentence each. */
  texts(): readonly string[] {
    const texts = this.#issues.map(issueText);
    return this.#left === 0 ? texts : [...texts, `and ${this.#left} more.`];
  }
}

function issueText({ place, field, rule, example }: ImportIssue): string {
  const what = field === '' ? rule : `${field} ${rule}`;
  const such = example === '' ? '' : `, for example ${example}`;
  // Values of the file are repeated, and the terminal that shows them must obey none of them.
  return printable(`${place.file} line ${place.line} (${place.row}): ${what}${such}.`);
}
