/**
 * A list that cannot be changed in the middle: each entry's hash covers the one before.
 *
 * The bytes are `previous hash, line feed, text` in UTF-8 under SHA-256, so that SQL computes the same.
 * Guarantee: an edited, missing, doubled or moved entry is found at its place.
 * Not promised: finding entries cut off the end; whoever must know that keeps a signed head elsewhere.
 */
import { hash } from 'node:crypto';

/** What the first entry follows. */
export const chainStart = '0'.repeat(64);

/** @returns 64 lower-case hexadecimal digits. */
export function chainHash(previous: string, text: string): string {
  return hash('sha256', `${previous}\n${text}`, 'hex');
}

export interface ChainLink {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly previous: string;
  readonly hash: string;
  /** What was hashed: the canonical text of the entry. */
  readonly text: string;
}

export type ChainFault = 'missing' | 'relinked' | 'edited';

/** A checker that is fed the links in order. @returns for each what is wrong with it, if anything. */
export function createChainCheck(): (link: ChainLink) => ChainFault | undefined {
  let seq = 0;
  let head = chainStart;
  return (link) => {
    const fault = faultOf(link, seq + 1, head);
    seq = link.seq;
    head = link.hash;
    return fault;
  };
}

function faultOf(link: ChainLink, expectedSeq: number, head: string): ChainFault | undefined {
  if (link.seq !== expectedSeq) return 'missing';
  if (link.previous !== head) return 'relinked';
  return chainHash(link.previous, link.text) === link.hash ? undefined : 'edited';
}
