/**
 * Whether a piece of a gateway's history is what follows what the cloud has, and what to do with it.
 *
 * Guarantees: an entry is stored once, in its place, on the chain, under a head that the gateway signed; nothing is left out
 * unless the door process itself signed that it is gone; two histories under one number are told apart and both are kept.
 * Not promised: that the gateway's end is here; what is not uploaded is not known.
 * `begins` and `gap` are signed by the door process's identity; the caller has verified them, and passes none that failed.
 */
import type * as z from 'zod';
import type {
  JournalGap,
  JournalUpload,
  journalBeginningStatement,
  UploadedEntry,
  UploadedHead,
} from '#shared/contract/sync/journal.ts';
import { chainFault, headFault, type IsSigned, type UploadFault } from './upload-chain.ts';

export type JournalBeginning = z.infer<typeof journalBeginningStatement>;

/** Where the cloud's copy ends. At enrolment `seq` 0, `hash` undefined and the key from the enrolment's proof. */
export interface JournalStand {
  readonly epoch: number;
  readonly seq: number;
  /** Of the last entry; `undefined` before the first of the first epoch: it may stand on anything. */
  readonly hash: string | undefined;
  /** Raw public key, base64url, that signs the next head. */
  readonly nextKey: string;
}

export interface UploadFacts {
  readonly gateway: string;
  readonly stand: JournalStand;
  /** Hashes by seq of what is stored of this epoch from `firstSeq - 1` on. */
  readonly stored: ReadonlyMap<number, string>;
  /** For an overlap: the key that signs the first head after `firstSeq - 1`; `stand.nextKey` where there is no overlap. */
  readonly keyBefore: string;
  readonly begins: JournalBeginning | undefined;
  readonly gap: JournalGap | undefined;
}

export type UploadJudgement =
  | {
      readonly kind: 'store';
      /** Those that are new, in order. */
      readonly entries: readonly UploadedEntry[];
      readonly heads: readonly UploadedHead[];
      readonly stand: JournalStand;
      /** A new epoch begins with these. */
      readonly begins?: JournalBeginning;
      /** These are gone for good: (`fromSeq` to `toSeq`), between what is stored and the new ones. */
      readonly gap?: { readonly fromSeq: number; readonly toSeq: number };
    }
  /** All of it is stored already: the answer is the ack once more. */
  | { readonly kind: 'noop' }
  /** 409 JOURNAL_GAP with the stand: something before it is missing, or it is of an epoch that is over. */
  | { readonly kind: 'gap' }
  /** 409 JOURNAL_FORKED with the stand: keep these beside the others, raise the alarm. `seq`: the first that differs. */
  | { readonly kind: 'forked'; readonly seq: number; readonly entries: readonly UploadedEntry[] }
  /**
   * Stored nowhere, and counted. `head-forged` is answered with the signed stand as a fork is: a gateway whose disk lost its last
   * head signs with the key before, and learns so that it must begin anew.
   */
  | { readonly kind: 'refused'; readonly reason: UploadFault | 'other-gateway' | 'contradicts-statement' };

export function judgeUpload(facts: UploadFacts, upload: JournalUpload, isSigned: IsSigned): UploadJudgement {
  const { gateway, begins, gap } = facts;
  if ((begins && begins.gateway !== gateway) || (gap && gap.gateway !== gateway))
    return { kind: 'refused', reason: 'other-gateway' };
  const broken = chainFault(upload);
  if (broken !== undefined) return { kind: 'refused', reason: broken };
  const base = baseOf(facts, upload);
  if (base === 'gap') return { kind: 'gap' };
  if (base === 'contradicts-statement') return { kind: 'refused', reason: base };
  if (upload.firstSeq > base.seq + 1) return { kind: 'gap' };
  const forkedAt = firstDifference(facts, upload, base);
  const keyFrom = upload.firstSeq <= base.seq ? facts.keyBefore : base.nextKey;
  const unsigned = headFault(upload, keyFrom, isSigned);
  if (unsigned !== undefined) return { kind: 'refused', reason: unsigned };
  if (forkedAt !== undefined)
    return { kind: 'forked', seq: forkedAt, entries: upload.entries.filter(({ seq }) => seq >= forkedAt) };
  return store(facts, upload, base);
}

/** Where the upload should go on: at the stand, at the start of a new epoch, or behind a gap. */
function baseOf(facts: UploadFacts, upload: JournalUpload): JournalStand | 'gap' | 'contradicts-statement' {
  const { stand, begins, gap } = facts;
  if (upload.epoch < stand.epoch) return 'gap';
  let base = stand;
  if (upload.epoch > stand.epoch) {
    if (begins === undefined) return 'gap';
    if (begins.epoch !== upload.epoch) return 'contradicts-statement';
    base = { epoch: begins.epoch, seq: 0, hash: begins.prevHash, nextKey: begins.firstKey };
  }
  if (gap === undefined || gap.toSeq <= base.seq) return base;
  const isOfUpload =
    gap.epoch === upload.epoch && gap.toSeq === upload.firstSeq - 1 && gap.lastHash === upload.prevHash;
  if (!isOfUpload) return 'contradicts-statement';
  if (gap.fromSeq > base.seq + 1) return 'gap';
  return { ...base, seq: gap.toSeq, hash: gap.lastHash, nextKey: gap.nextKey };
}

/** @returns the first seq under which the cloud has another entry than the gateway, if there is one. */
function firstDifference(
  { stored, stand }: UploadFacts,
  upload: JournalUpload,
  base: JournalStand,
): number | undefined {
  const before = upload.firstSeq - 1;
  const known = before === base.seq ? base.hash : upload.epoch === stand.epoch ? stored.get(before) : undefined;
  if (known !== undefined && known !== upload.prevHash) return Math.max(before, 1);
  if (upload.epoch !== stand.epoch) return undefined;
  return upload.entries.find(({ seq, hash }) => seq <= base.seq && (stored.get(seq) ?? hash) !== hash)?.seq;
}

function store(facts: UploadFacts, upload: JournalUpload, base: JournalStand): UploadJudgement {
  const entries = upload.entries.filter(({ seq }) => seq > base.seq);
  const last = entries.at(-1);
  const heads = upload.heads.filter(({ seq }) => seq > base.seq);
  const lastHead = heads.at(-1);
  if (last === undefined || lastHead === undefined) return { kind: 'noop' };
  const isNewEpoch = base.epoch !== facts.stand.epoch;
  const heldSeq = isNewEpoch ? 0 : facts.stand.seq;
  return {
    kind: 'store',
    entries,
    heads,
    stand: { epoch: base.epoch, seq: last.seq, hash: last.hash, nextKey: lastHead.nextKey },
    ...(isNewEpoch && facts.begins !== undefined ? { begins: facts.begins } : {}),
    ...(base.seq > heldSeq ? { gap: { fromSeq: heldSeq + 1, toSeq: base.seq } } : {}),
  };
}
