/**
 * A secret for one reader: sealed to an X25519 key, opened only by who holds the private half.
 *
 * Ephemeral X25519, HKDF-SHA-256 over both public keys, AES-256-GCM. `purpose` is authenticated, so that what was sealed
 * for one thing is refused for another. Text form: base64url of ephemeral key (32) ‖ nonce (12) ‖ ciphertext ‖ tag (16).
 * Not promised: who sealed it. That is for a signature around it.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { fromBase64url, rawPublicKey, toBase64url } from './signed-statement.ts';

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

export interface SealKey {
  /** Raw X25519 public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** PKCS #8, to be kept sealed itself. */
  readonly privateKey: Uint8Array;
}

export function createSealKey(): SealKey {
  const pair = generateKeyPairSync('x25519');
  return {
    publicKey: rawPublicKey(pair.publicKey),
    privateKey: new Uint8Array(pair.privateKey.export({ type: 'pkcs8', format: 'der' })),
  };
}

const publicSealKey = (raw: Uint8Array): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: toBase64url(raw) }, format: 'jwk' });

function boxKey(shared: Buffer, ephemeral: Uint8Array, receiver: Uint8Array, purpose: string): Uint8Array {
  const salt = Buffer.concat([ephemeral, receiver]);
  return new Uint8Array(hkdfSync('sha256', shared, salt, `kannuki-sealed-box-1 ${purpose}`, keyBytes));
}

/** Raw public half. @param privateKey PKCS #8 of an X25519 key. */
export function publicSealKeyOf(privateKey: Uint8Array): Uint8Array {
  return rawPublicKey(createPrivateKey({ key: Buffer.from(privateKey), format: 'der', type: 'pkcs8' }));
}

/** @param receiver raw X25519 public key. */
export function sealFor(receiver: Uint8Array, purpose: string, secret: Uint8Array): string {
  const ephemeral = generateKeyPairSync('x25519');
  const own = rawPublicKey(ephemeral.publicKey);
  const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: publicSealKey(receiver) });
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', boxKey(shared, own, receiver, purpose), nonce);
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return toBase64url(Buffer.concat([own, nonce, sealed, cipher.getAuthTag()]));
}

/** @returns the secret, or `undefined` if it was sealed for another key or purpose, or changed. */
export function openSealed(privateKey: Uint8Array, purpose: string, text: string): Uint8Array | undefined {
  const box = fromBase64url(text);
  if (box.length < keyBytes + nonceBytes + tagBytes) return undefined;
  const key = createPrivateKey({ key: Buffer.from(privateKey), format: 'der', type: 'pkcs8' });
  const ephemeral = box.subarray(0, keyBytes);
  try {
    const shared = diffieHellman({ privateKey: key, publicKey: publicSealKey(ephemeral) });
    const secretKey = boxKey(shared, ephemeral, rawPublicKey(key), purpose);
    const nonce = box.subarray(keyBytes, keyBytes + nonceBytes);
    const decipher = createDecipheriv('aes-256-gcm', secretKey, nonce);
    decipher.setAuthTag(box.subarray(-tagBytes));
    const opened = decipher.update(box.subarray(keyBytes + nonceBytes, -tagBytes));
    return new Uint8Array(Buffer.concat([opened, decipher.final()]));
  } catch {
    // Node says the same for a wrong tag, a key of small order and a key that is none.
    return undefined;
  }
}
