/**
 * X25519 over raw keys of 32 bytes (RFC 7748).
 *
 * Guarantee: a point that leads to the all-zero secret, which an attacker may send before anything is proven, is an
 * answer and no exception.
 */
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';

export const keyLength = 32;

/** The DER heads of RFC 8410 for an X25519 key of each sort; the raw key follows. */
const privateHead = Buffer.from('302e020100300506032b656e04220420', 'hex');
const publicHead = Buffer.from('302a300506032b656e032100', 'hex');

function privateKeyOf(raw: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([privateHead, raw]), format: 'der', type: 'pkcs8' });
}

/** @param privateKey any 32 bytes. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  const der = createPublicKey(privateKeyOf(privateKey)).export({ format: 'der', type: 'spki' });
  return new Uint8Array(der.subarray(-keyLength));
}

/**
 * Encodings of the points of small order, with the unused top bit clear: 0, 1, the two of order eight, and p − 1, p, p + 1
 * (D. J. Bernstein, "Curve25519", section on contributory behaviour).
 */
const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

/** @param publicKey 32 bytes from the wire. @returns `undefined` where the secret would be known to everybody. */
export function sharedSecret(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array | undefined {
  const point = Buffer.from(publicKey);
  const canonical = Buffer.from(point);
  canonical[keyLength - 1] = (canonical[keyLength - 1] ?? 0) & 0x7f;
  if (point.length !== keyLength || smallOrder.includes(canonical.toString('hex'))) return undefined;
  const peer = createPublicKey({ key: Buffer.concat([publicHead, point]), format: 'der', type: 'spki' });
  return new Uint8Array(diffieHellman({ privateKey: privateKeyOf(privateKey), publicKey: peer }));
}
