/**
 * The chain: each entry's hash covers all of it and the hash before it.
 *
 * The bytes are the canonical text of the entry; they are put together here from columns that are canonical already,
 * because verifying ten million entries must not parse ten million bodies.
 * Pure: SHA-256 is the protocol.
 */
import { hash } from 'node:crypto';

/** An entry as it lies in the file, before or after its own hash is known. */
export interface ChainedEntry {
  readonly place: number;
  readonly bootId: string;
  readonly at: number;
  readonly clockState: string;
  readonly kind: string;
  readonly door: string | null;
  readonly requestId: string | null;
  /** Canonical text of the body. */
  readonly body: string;
  readonly personalHash: Uint8Array | null;
  readonly prevHash: Uint8Array;
}

/** What the first entry of a file stands on. */
export const genesisHash: Uint8Array = new Uint8Array(32);

const epochSize = 2 ** 40;

/** One ordered integer for (epoch, seq). @param epoch 0–8191. @param seq 0–2^40-1; 0 = before the first entry. */
export const placeOf = (epoch: number, seq: number): number => epoch * epochSize + seq;
export const epochOf = (place: number): number => Math.floor(place / epochSize);
export const seqOf = (place: number): number => place % epochSize;

/** The text that is hashed: the same bytes as `canonicalText` of the entry with its hashes in hex and without its own. */
export function entryText(entry: ChainedEntry): string {
  return (
    `{"at":${entry.at},"body":${entry.body},"bootId":${quoted(entry.bootId)},"clockState":${quoted(entry.clockState)}` +
    `,"door":${quoted(entry.door)},"epoch":${epochOf(entry.place)},"kind":${quoted(entry.kind)}` +
    `,"personalHash":${hexOrNull(entry.personalHash)},"prevHash":"${hexOf(entry.prevHash)}"` +
    `,"requestId":${quoted(entry.requestId)},"seq":${seqOf(entry.place)}}`
  );
}

/** SHA-256 of the entry's text, 32 bytes. */
export function entryHash(entry: ChainedEntry): Uint8Array {
  return hash('sha256', entryText(entry), 'buffer');
}

/** What the chain keeps of personal values. @param salt 16 random bytes, erased with the value. */
export function personalHash(salt: Uint8Array, value: string): Uint8Array {
  return hash('sha256', Buffer.concat([salt, Buffer.from(value, 'utf8')]), 'buffer');
}

/** One entry as the next one sees it. */
export interface Link {
  readonly place: number;
  readonly hash: Uint8Array;
}

/** @returns why `row` cannot stand directly after `before`, or `undefined`. */
export function judgeNext(before: Link, row: ChainedEntry & Link): 'missing' | 'edited' | 'link-broken' | undefined {
  const isFirstOfEpoch = seqOf(row.place) === 1 && epochOf(row.place) > epochOf(before.place);
  if (row.place !== before.place + 1 && !isFirstOfEpoch) return 'missing';
  if (!isSame(row.prevHash, before.hash)) return 'link-broken';
  return isSame(row.hash, entryHash(row)) ? undefined : 'edited';
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

export const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

const quoted = (text: string | null): string => (text === null ? 'null' : JSON.stringify(text));
const hexOrNull = (bytes: Uint8Array | null): string => (bytes === null ? 'null' : `"${hexOf(bytes)}"`);
