/**
 * Follows the signed heads beside the chain: each signed by the key that the one before it named.
 */

import type { Link } from '#shared/journal-chain.ts';
import { isHeadSignedBy, type SignedHead } from '#shared/signed-head.ts';
import { isSameCode } from '../store/row-code.ts';
import type { JournalTables } from './journal-tables.ts';

export type HeadFault = 'head-forged' | 'head-differs' | 'missing' | 'truncated';
export type OnHeadFault = (place: number, fault: HeadFault) => void;

const headsAtOnce = 256;

export class HeadWalk {
  readonly #tables: JournalTables;
  #nextKey: Uint8Array;
  #ahead: SignedHead[] = [];
  #lastPlace = 0;
  #count = 0;

  constructor(tables: JournalTables, firstKey: Uint8Array) {
    this.#tables = tables;
    this.#nextKey = firstKey;
  }

  /** Heads verified so far. */
  get count(): number {
    return this.#count;
  }

  /** The key that signs the next head. */
  get nextKey(): Uint8Array {
    return this.#nextKey;
  }

  /** Verifies the heads over what has been pruned; one at `start` must say what is there. */
  skipTo(start: Link, onFault: OnHeadFault): void {
    for (let head = this.#peek(); head && head.place < start.place; head = this.#peek()) this.#accept(head, onFault);
    this.pass(start, onFault);
  }

  /** @returns whether a head stands at this entry. */
  pass(link: Link, onFault: OnHeadFault): boolean {
    const head = this.#peek();
    if (!head || head.place > link.place) return false;
    if (head.place < link.place) onFault(head.place, 'missing');
    this.#accept(head, onFault);
    if (!isSameCode(head.hash, link.hash)) onFault(head.place, 'head-differs');
    return true;
  }

  /** No head may stand beyond the last entry. */
  finish(last: Link, onFault: OnHeadFault): void {
    const head = this.#peek();
    if (head) onFault(last.place + 1, 'truncated');
  }

  #accept(head: SignedHead, onFault: OnHeadFault): void {
    if (!isHeadSignedBy(head, this.#nextKey)) onFault(head.place, 'head-forged');
    this.#nextKey = head.nextKey;
    this.#lastPlace = head.place;
    this.#count += 1;
    this.#ahead.shift();
  }

  #peek(): SignedHead | undefined {
    if (this.#ahead.length === 0) this.#ahead = this.#tables.headsAfter.all(this.#lastPlace, headsAtOnce);
    return this.#ahead[0];
  }
}
