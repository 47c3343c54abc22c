/** One row as it was written, before anything about it is believed, with the place to name when it is wrong. */
import type { SourcePlace } from './import-issue.ts';

export const sections = [
  'facility',
  'schedules',
  'holidays',
  'doors',
  'readers',
  'holders',
  'credentials',
  'grants',
] as const;
export type Section = (typeof sections)[number];

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

export function isSection(name: string): name is Section {
  return (sections as readonly string[]).includes(name);
}
