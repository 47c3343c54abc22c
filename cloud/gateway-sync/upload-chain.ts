/** Whether an upload is a chain in itself, and signed to its end. */
import type { JournalUpload, UploadedEntry, UploadedHead } from '#shared/contract/sync/journal.ts';
import { entryHash, hexOf, personalHash, placeOf } from '#shared/journal-chain.ts';

/** Why an upload is no history at all; it then changes nothing. */
export type UploadFault =
  /** Entries are not numbered one after the other from `firstSeq`. */
  | 'misnumbered'
  /** An entry's hash is not that of its text on the one before. */
  | 'edited'
  | 'personal-edited'
  /** A head names another hash than its entry has, or is not in order. */
  | 'head-differs'
  /** A head is not signed by the key that the one before it named. */
  | 'head-forged'
  /** The last entry is under no head. */
  | 'unsigned-end';

/** Whether the raw key, base64url, signed that head. */
export type IsSigned = (head: UploadedHead, key: string) => boolean;

export function chainFault(upload: JournalUpload): UploadFault | undefined {
  let before = upload.prevHash;
  for (const [index, entry] of upload.entries.entries()) {
    if (entry.seq !== upload.firstSeq + index) return 'misnumbered';
    if (hashOf(upload.epoch, entry, before) !== entry.hash) return 'edited';
    if (!isPersonalRight(entry)) return 'personal-edited';
    before = entry.hash;
  }
  return undefined;
}

function hashOf(epoch: number, entry: UploadedEntry, prevHash: string): string {
  const { bootId, at, clockState, kind, door, requestId, body } = entry;
  const chained = { bootId, at, clockState, kind, door, requestId, body, place: placeOf(epoch, entry.seq) };
  const personal = entry.personalHash === null ? null : Buffer.from(entry.personalHash, 'hex');
  return hexOf(entryHash({ ...chained, personalHash: personal, prevHash: Buffer.from(prevHash, 'hex') }));
}

function isPersonalRight({ personal, personalHash: kept }: UploadedEntry): boolean {
  if (personal === undefined) return true;
  return kept !== null && hexOf(personalHash(Buffer.from(personal.salt, 'base64url'), personal.value)) === kept;
}

/** @param key that signs the first of the heads. */
export function headFault(upload: JournalUpload, key: string, isSigned: IsSigned): UploadFault | undefined {
  let next = key;
  let covered = upload.firstSeq - 1;
  for (const head of upload.heads) {
    const entry = upload.entries[head.seq - upload.firstSeq];
    if (entry === undefined || head.epoch !== upload.epoch || head.seq <= covered || head.hash !== entry.hash)
      return 'head-differs';
    if (!isSigned(head, next)) return 'head-forged';
    next = head.nextKey;
    covered = head.seq;
  }
  return covered === upload.firstSeq + upload.entries.length - 1 ? undefined : 'unsigned-end';
}
