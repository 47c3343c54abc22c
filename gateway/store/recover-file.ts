/**
 * What happens when a file that should be there is missing or damaged: it is set aside, and that is said.
 *
 * Guarantees: never a fresh file in silence; the caller gets what became of the old one, in words for the journal.
 * A file that is merely forbidden, full, busy, newer or under another key is left alone and the fault goes up.
 */
import { quarantine } from './quarantine.ts';
import { StoreFault } from './store-fault.ts';

export type Found =
  | { readonly kind: 'opened' }
  | { readonly kind: 'created' }
  /** There was one, and it is gone or set aside; a new one was begun. */
  | {
      readonly kind: 'lost';
      readonly reason: 'missing' | 'damaged';
      readonly detail: string;
      readonly aside: string | null;
    };

export interface RecoverOptions<File> {
  readonly path: string;
  /** Whether somebody remembers that this file once was: then it is not simply made. */
  readonly isExpected: boolean;
  /** Why a file that still opens must be set aside all the same: it proved damaged in use. */
  readonly condemnedFor?: string;
  /** Wall time, ms, for the name of what is set aside. */
  readonly at: number;
  readonly open: (mode: 'existing' | 'create') => File;
}

/** @throws StoreFault of any code but STORE_DAMAGED and, of a file that is expected, STORE_MISSING. */
export function openOrRecover<File extends { readonly isNew: boolean }>(
  options: RecoverOptions<File>,
): { readonly file: File; readonly found: Found } {
  const { open, isExpected, condemnedFor } = options;
  if (condemnedFor !== undefined) return begunAnew(options, condemnedFor);
  try {
    const file = open(isExpected ? 'existing' : 'create');
    return { file, found: { kind: file.isNew ? 'created' : 'opened' } };
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    if (error.code === 'STORE_DAMAGED') return begunAnew(options, error.message);
    if (error.code !== 'STORE_MISSING' || !isExpected) throw error;
    return { file: open('create'), found: { kind: 'lost', reason: 'missing', detail: error.message, aside: null } };
  }
}

function begunAnew<File>(
  options: RecoverOptions<File>,
  detail: string,
): { readonly file: File; readonly found: Found } {
  const aside = quarantine(options.path, options.at);
  return { file: options.open('create'), found: { kind: 'lost', reason: 'damaged', detail, aside } };
}
