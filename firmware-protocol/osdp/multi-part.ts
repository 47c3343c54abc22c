/**
 * Messages too long for one frame: taken apart, and put together again.
 *
 * Guarantee: fragments are taken in order only, within a stated length; anything else ends the collection with a reason.
 * Not promised: a deadline; whoever collects drops the state when the reader falls silent.
 */
import type { Fragment } from './fragment.ts';

/** What has arrived so far. */
export interface Collection {
  readonly total: number;
  readonly bytes: Uint8Array;
}

export type Collecting =
  | { readonly kind: 'more'; readonly collection: Collection }
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  /** The sender ended it. */
  | { readonly kind: 'given-up' }
  | { readonly kind: 'broken'; readonly problem: 'out-of-order' | 'other-length' | 'too-long' | 'empty' };

const broken = (problem: Extract<Collecting, { kind: 'broken' }>['problem']): Collecting => ({
  kind: 'broken',
  problem,
});

/**
 * Takes the next fragment. Offset 0 always begins anew.
 * @param longest bytes a whole message may have.
 */
export function collectFragment(collection: Collection | undefined, part: Fragment, longest: number): Collecting {
  const { total, offset, fragment } = part;
  if (fragment.length === 0) return offset >= total ? { kind: 'given-up' } : broken('empty');
  if (total > longest || offset + fragment.length > total) return broken('too-long');
  const before = offset === 0 ? { total, bytes: new Uint8Array(0) } : collection;
  if (before === undefined || before.bytes.length !== offset) return broken('out-of-order');
  if (before.total !== total) return broken('other-length');
  const bytes = new Uint8Array([...before.bytes, ...fragment]);
  return bytes.length === total ? { kind: 'whole', bytes } : { kind: 'more', collection: { total, bytes } };
}

/** @param room bytes of a fragment, 1 and more. An empty message has no fragments. */
export function splitMessage(bytes: Uint8Array, room: number): readonly Fragment[] {
  const fragments: Fragment[] = [];
  for (let offset = 0; offset < bytes.length; offset += room) {
    fragments.push({ total: bytes.length, offset, fragment: bytes.slice(offset, offset + room) });
  }
  return fragments;
}
