/**
 * A signed head says: up to here, the chain is this. Each names the key of the next one, and the old key is dropped.
 *
 * Guarantees: whoever knows the first public key can verify every head after it; whoever takes the machine today
 * holds only the key of the next head, and cannot sign for yesterday.
 * Not promised: anything about entries after the last head, or about traces of dropped keys left in flash cells.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto';
import { canonicalText } from './canonical.ts';
import { epochOf, hexOf, seqOf } from './journal-chain.ts';

/** What a head says, before the signature. */
export interface HeadClaim {
  readonly place: number;
  /** Wall time of the entry at `place`, ms. */
  readonly at: number;
  /** Hash of the entry at `place`. */
  readonly hash: Uint8Array;
  /** Raw Ed25519 public key, 32 bytes, that signs the next head. */
  readonly nextKey: Uint8Array;
}

export interface SignedHead extends HeadClaim {
  readonly signature: Uint8Array;
}

export interface HeadKey {
  /** Raw, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** PKCS #8, to be sealed. */
  readonly privateKey: Uint8Array;
}

export function createHeadKey(): HeadKey {
  const pair = generateKeyPairSync('ed25519');
  return {
    publicKey: rawPublicKey(pair.publicKey),
    privateKey: new Uint8Array(pair.privateKey.export({ type: 'pkcs8', format: 'der' })),
  };
}

export function signHead(claim: HeadClaim, privateKey: Uint8Array): SignedHead {
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: 'der', type: 'pkcs8' });
  return { ...claim, signature: new Uint8Array(signBytes(null, headBytes(claim), key)) };
}

/** @param publicKey raw, 32 bytes; any other length verifies nothing. */
export function isHeadSignedBy(head: SignedHead, publicKey: Uint8Array): boolean {
  if (publicKey.length !== 32 || head.signature.length !== 64) return false;
  return verifyBytes(null, headBytes(head), publicKeyObject(publicKey), head.signature);
}

function headBytes(claim: HeadClaim): Buffer {
  const text = canonicalText({
    type: 'kannuki-journal-head-1',
    epoch: epochOf(claim.place),
    seq: seqOf(claim.place),
    at: claim.at,
    hash: hexOf(claim.hash),
    nextKey: hexOf(claim.nextKey),
  });
  return Buffer.from(text, 'utf8');
}

/** DER of a SubjectPublicKeyInfo for Ed25519 up to the key itself (RFC 8410, section 4). */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

function publicKeyObject(raw: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([spkiPrefix, raw]), format: 'der', type: 'spki' });
}

function rawPublicKey(key: KeyObject): Uint8Array {
  return new Uint8Array(key.export({ type: 'spki', format: 'der' }).subarray(spkiPrefix.length));
}
