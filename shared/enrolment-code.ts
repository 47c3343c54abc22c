/**
 * The code by which a gateway joins, and what both sides compute from it.
 *
 * `KNK1-<id 8>-<secret 16>-<root 16>` in Crockford's base32: the id finds it, the secret proves that its reader is at the
 * gateway, the last group is the beginning of the hash of the cloud's root key, so that nobody on the way can be the cloud.
 * Read leniently: case, spaces and dashes do not matter, and I, L and O are read as what they are mistaken for.
 */
import { createHmac, hash } from 'node:crypto';

export interface EnrolmentCode {
  /** 8 letters. */
  readonly codeId: string;
  /** 16 letters, 80 bits. */
  readonly secret: string;
  /** 16 letters: the first 80 bits of the SHA-256 of the raw root key. */
  readonly rootPrint: string;
}

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const printBytes = 10;
const codeText = /^KNK1([0-9A-HJKMNP-TV-Z]{8})([0-9A-HJKMNP-TV-Z]{16})([0-9A-HJKMNP-TV-Z]{16})$/;

/** @returns `undefined` where it is no such code. */
export function parseEnrolmentCode(text: string): EnrolmentCode | undefined {
  const plain = text.toUpperCase().replaceAll(/[\s-]/g, '');
  const lenient = plain.slice(0, 4) + plain.slice(4).replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  const [, codeId, secret, rootPrint] = codeText.exec(lenient) ?? [];
  return codeId && secret && rootPrint ? { codeId, secret, rootPrint } : undefined;
}

export function formatEnrolmentCode({ codeId, secret, rootPrint }: EnrolmentCode): string {
  return `KNK1-${codeId}-${secret}-${rootPrint}`;
}

/** Bytes as letters of Crockford's base32, five bits each, the rest dropped. */
export function crockford(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += letters.charAt((held >> (bits - 5)) & 31);
    held &= (1 << bits) - 1;
  }
  return text;
}

/** @param root raw Ed25519 public key, 32 bytes. */
export const rootPrintOf = (root: Uint8Array): string =>
  crockford(hash('sha256', root, 'buffer').subarray(0, printBytes));

export interface EnrolledKeys {
  /** Raw public keys as base64url. */
  readonly doorSignKey: string;
  readonly doorSealKey: string;
  readonly edgeKey: string;
}

/** What only somebody who read the code can compute over the keys. @returns 64 hexadecimal digits. */
export function enrolmentProofOf(secret: string, { doorSignKey, doorSealKey, edgeKey }: EnrolledKeys): string {
  const text = `kannuki-enrolment-1|${doorSignKey}|${doorSealKey}|${edgeKey}`;
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** By which a person tells that the cloud and the machine before them mean the same door process. */
export function doorFingerprintOf({ doorSignKey, doorSealKey }: Omit<EnrolledKeys, 'edgeKey'>): string {
  return hash('sha256', `kannuki-door-1|${doorSignKey}|${doorSealKey}`, 'hex');
}
