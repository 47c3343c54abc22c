/** An entry as a person meets it: with the names that its ids stand for now. */
import type { Entry } from '../journal/entry.ts';

export interface EntryNames {
  readonly door: string | undefined;
  readonly holder: string | undefined;
  readonly reader: string | undefined;
}

export interface EntryView {
  readonly entry: Entry;
  readonly names: EntryNames;
}
