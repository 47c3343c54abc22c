/** One row as it was written, before anything about it is believed, with the place to name when it is wrong. */
import type { SourcePlace } from './import-issue.ts';
import type { Section } from './section.ts';

export interface SourceRecord {
  readonly section: Section;
  readonly place: SourcePlace;
  readonly value: unknown;
}

export interface SourceFile {
  readonly name: string;
  readonly text: string;
  /** Set where the bytes were no text; `text` is empty then. */
  readonly encodingFault?: { readonly line: number; readonly rule: string };
}
