/**
 * What one side signs and the other believes: compact JWS by Ed25519 (RFC 7515, RFC 8037), one `typ` per statement.
 *
 * A signature over one kind of statement is never valid for another: whoever verifies names the `typ` it expects.
 * Every statement says for which gateway it is; what belongs to one replica or one journal names its epoch.
 */
import * as z from 'zod';
import { idSchema } from '../identifier.ts';

/** `typ` in the protected header. The version is part of the name: what changes its meaning gets another. */
export const statementType = {
  /** The offline root certifies a feed key. */
  keyCertificate: 'kannuki-key-certificate-1',
  enrolment: 'kannuki-enrolment-1',
  time: 'kannuki-time-1',
  feedBatch: 'kannuki-feed-batch-1',
  urgent: 'kannuki-urgent-1',
  snapshotChunk: 'kannuki-snapshot-chunk-1',
  repair: 'kannuki-repair-1',
  lease: 'kannuki-lease-1',
  command: 'kannuki-command-1',
  journalAck: 'kannuki-journal-ack-1',
  /** Carried by a guest's phone and verified at the door without contact. */
  pass: 'kannuki-pass-1',
  /** Signed by the door process. */
  enrolmentProof: 'kannuki-enrolment-proof-1',
  feedAck: 'kannuki-feed-ack-1',
  /** Signed by edge: one request's token. */
  transport: 'kannuki-transport-1+jwt',
  journalBeginning: 'kannuki-journal-beginning-1',
  journalGap: 'kannuki-journal-gap-1',
} as const;

export type StatementType = (typeof statementType)[keyof typeof statementType];

/** A compact JWS as text; what it says is known only after it was verified. */
export const jwsSchema = z
  .string()
  .max(700_000)
  .regex(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/, 'must be a compact JWS');

/** Raw bytes as base64url without padding. */
export const bytesSchema = (bytes: number) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${Math.ceil((bytes * 4) / 3)}}$`), `must be ${bytes} bytes in base64url`);

export const hashSchema = z.string().regex(/^[0-9a-f]{64}$/, 'must be 32 bytes in lower-case hexadecimal');
export const gatewayId = idSchema<'gateway'>();
/** 16 random bytes of the door process, in its memory only. */
export const nonceSchema = bytesSchema(16);
/** Wall time, ms since 1970 UTC. */
export const wallSchema = z.int().min(0).max(8_640_000_000_000_000);
/** Position in the feed of one gateway; 0 is before the first change. */
export const cursorSchema = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Epochs count from 1; 0 where there is none yet. */
export const epochSchema = z.int().min(0).max(8_191);

/** What a root says of a feed key. Its `kid` is the SHA-256 of the key, first 16 hexadecimal digits. */
export const keyCertificateStatement = z.strictObject({
  /** Raw Ed25519 public key of the feed. */
  feedKey: bytesSchema(32),
  /** Raw X25519 public key to which the door process seals what only the cloud may read. */
  sealKey: bytesSchema(32),
  /** Of two certificates the one with the higher serial is in force, and the lower is refused from then on. */
  serial: z.int().min(1),
  notBefore: wallSchema,
  notAfter: wallSchema,
});
export type KeyCertificate = z.infer<typeof keyCertificateStatement>;
