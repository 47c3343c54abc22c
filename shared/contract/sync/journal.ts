/** Up: the gateway's history after the cloud's last ack, chained; the answer is the only thing that lets a gateway prune. */
import * as z from 'zod';
import { bytesSchema, epochSchema, gatewayId, hashSchema, jwsSchema, wallSchema } from './statement.ts';

export const uploadEntriesMax = 500;
export const uploadBytesMax = 512 * 1024;
/** Characters of an entry's canonical texts, where it is written as where it goes up. */
export const bodyTextMax = 16_384;
export const personalTextMax = 4_096;

const seqSchema = z.int().min(0).max(1_099_511_627_775);
/** An entry as it is chained; `body` is the canonical text that was hashed, so that nothing is lost in between. */
export const uploadedEntry = z.strictObject({
  seq: seqSchema.min(1),
  bootId: z.string().max(64),
  at: wallSchema,
  clockState: z.enum(['trusted', 'holdover', 'untrusted']),
  kind: z.string().min(1).max(64),
  door: z.string().max(64).nullable(),
  requestId: z.string().max(64).nullable(),
  body: z.string().max(bodyTextMax),
  personalHash: hashSchema.nullable(),
  /** Salt and canonical text behind `personalHash`, while they were not erased. */
  personal: z.strictObject({ salt: bytesSchema(16), value: z.string().max(personalTextMax) }).optional(),
  hash: hashSchema,
});
export type UploadedEntry = z.infer<typeof uploadedEntry>;

/** A head of the chain, signed by the key that the head before it named. */
export const uploadedHead = z.strictObject({
  epoch: epochSchema,
  seq: seqSchema,
  at: wallSchema,
  hash: hashSchema,
  nextKey: bytesSchema(32),
  signature: bytesSchema(64),
});
export type UploadedHead = z.infer<typeof uploadedHead>;

/** Said by the door process's identity where a journal of a later epoch begins: the old one goes no further here. */
export const journalBeginningStatement = z.strictObject({
  gateway: gatewayId,
  epoch: epochSchema.min(1),
  /** Of the first head of the new epoch. */
  firstKey: bytesSchema(32),
  /** Hash on which its first entry stands: the last held entry before it, or 32 zero bytes where nothing was held. */
  prevHash: hashSchema,
  /** The last place held before it; epoch 0 where nothing was. */
  before: z.strictObject({ epoch: epochSchema, seq: seqSchema }),
});

/** Said by the door process's identity where entries were let go unsent: edge alone cannot leave any out. */
export const journalGapStatement = z.strictObject({
  gateway: gatewayId,
  epoch: epochSchema.min(1),
  fromSeq: seqSchema.min(1),
  toSeq: seqSchema.min(1),
  /** Hash of the entry at `toSeq`. */
  lastHash: hashSchema,
  /** Key of the next head after `toSeq`: the heads in between went with their entries. */
  nextKey: bytesSchema(32),
});
export type JournalGap = z.infer<typeof journalGapStatement>;

export const journalUpload = z.strictObject({
  epoch: epochSchema.min(1),
  firstSeq: seqSchema.min(1),
  /** Hash of the entry before the first. */
  prevHash: hashSchema,
  entries: z.array(uploadedEntry).max(uploadEntriesMax),
  /** Every head signed inside what is sent, oldest first; the last covers the last entry. */
  heads: z.array(uploadedHead).max(uploadEntriesMax),
  /** With a new epoch: the key of its first head, and the statement of the old one's end, signed by door's identity. */
  begins: z.strictObject({ firstKey: bytesSchema(32), proof: jwsSchema }).optional(),
  /** What was let go before the cloud had it: a `journalGapStatement`; `prevHash` is the hash at its end. */
  gap: jwsSchema.optional(),
});
export type JournalUpload = z.infer<typeof journalUpload>;

export const journalAckStatement = z.strictObject({
  gateway: gatewayId,
  epoch: epochSchema.min(1),
  seq: seqSchema,
  hash: hashSchema,
  /** By which the cloud expects the next head: a gateway that would sign with another lost the head that named it. */
  nextKey: bytesSchema(32),
  at: wallSchema,
});
export type JournalAck = z.infer<typeof journalAckStatement>;
export const journalReply = z.strictObject({ ack: jwsSchema });
/**
 * Body of 409 JOURNAL_GAP and JOURNAL_FORKED: the last entry the cloud has. The door process believes only the signed form,
 * by which it learns that its own journal lost its end.
 */
export const journalExpected = z.strictObject({ epoch: epochSchema, seq: seqSchema, hash: hashSchema, ack: jwsSchema });
