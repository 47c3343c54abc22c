/**
 * The handshake Noise_NNpsk0_25519_ChaChaPoly_SHA256 (Noise Protocol Framework, revision 34), both sides.
 *
 * Two messages make two fresh keys that only holders of the pre-shared key can have, and that nobody can recompute who
 * learns that key later. Guarantees: nothing here throws on bytes from the wire; a first message is judged without any
 * curve arithmetic, so that an impostor without the key costs little. Not promised: that a first message is fresh; it can
 * be replayed, which is why it carries nothing that matters.
 */
import { createHash, createHmac } from 'node:crypto';
import { open, seal, tagLength } from './aead.ts';
import { keyLength, publicKeyOf, sharedSecret } from './x25519.ts';

const protocolName = Buffer.from('Noise_NNpsk0_25519_ChaChaPoly_SHA256', 'ascii');
const nothing = new Uint8Array(0);

/** Public key and tag: a message whose payload is empty. */
export const shortestMessage = keyLength + tagLength;

/** The symmetric state after a message: chaining key and transcript hash, 32 bytes each. */
export interface Transcript {
  readonly chain: Uint8Array;
  readonly hash: Uint8Array;
}

interface Keyed extends Transcript {
  readonly key: Uint8Array;
}

/** What both sides hold afterwards. */
export interface NoiseKeys {
  /** From the initiator to the responder, 32 bytes. */
  readonly toResponder: Uint8Array;
  readonly toInitiator: Uint8Array;
  /** The transcript hash, the same on both sides. */
  readonly hash: Uint8Array;
}

const sha256 = (...parts: readonly Uint8Array[]): Uint8Array => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
};

const hmac = (key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array => {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return new Uint8Array(mac.digest());
};

/** HKDF of the framework, section 4.3: three outputs, of which the first two do not depend on the third being used. */
function derive(chain: Uint8Array, material: Uint8Array) {
  const secret = hmac(chain, material);
  const first = hmac(secret, Uint8Array.of(1));
  const second = hmac(secret, first, Uint8Array.of(2));
  const third = hmac(secret, second, Uint8Array.of(3));
  return { first, second, third };
}

function begin(key: Uint8Array, prologue: Uint8Array): Transcript {
  const name = sha256(protocolName);
  const { first, second } = derive(name, key);
  return { chain: first, hash: sha256(sha256(name, prologue), second) };
}

/** Token e in a pattern with a pre-shared key: the public key enters hash and chain. */
function mixPublic(state: Transcript, publicKey: Uint8Array): Keyed {
  const { first, second } = derive(state.chain, publicKey);
  return { hash: sha256(state.hash, publicKey), chain: first, key: second };
}

function mixSecret(state: Transcript, secret: Uint8Array): Keyed {
  const { first, second } = derive(state.chain, secret);
  return { hash: state.hash, chain: first, key: second };
}

function sealPayload(state: Keyed, payload: Uint8Array) {
  const sealed = seal(state.key, 0, state.hash, payload);
  return { sealed, state: { chain: state.chain, hash: sha256(state.hash, sealed) } };
}

function openPayload(state: Keyed, sealed: Uint8Array) {
  const payload = open(state.key, 0, state.hash, sealed);
  return payload && { payload, state: { chain: state.chain, hash: sha256(state.hash, sealed) } };
}

function split(state: Transcript): NoiseKeys {
  const { first, second } = derive(state.chain, nothing);
  return { toResponder: first, toInitiator: second, hash: state.hash };
}

export interface NoiseSecret {
  /** Pre-shared, 32 bytes. */
  readonly key: Uint8Array;
  readonly prologue: Uint8Array;
}

/** The initiator's message. @param ephemeral 32 fresh random bytes, its private key. */
export function writeHello(secret: NoiseSecret, ephemeral: Uint8Array, payload: Uint8Array = nothing) {
  const publicKey = publicKeyOf(ephemeral);
  const { sealed, state } = sealPayload(mixPublic(begin(secret.key, secret.prologue), publicKey), payload);
  return { bytes: Uint8Array.from([...publicKey, ...sealed]), state };
}

/** What the responder learns from it; `undefined` for anything not made with this key for this prologue. */
export function readHello(secret: NoiseSecret, bytes: Uint8Array) {
  if (bytes.length < shortestMessage) return undefined;
  const peer = bytes.slice(0, keyLength);
  const opened = openPayload(mixPublic(begin(secret.key, secret.prologue), peer), bytes.subarray(keyLength));
  return opened && { ...opened, peer };
}

/**
 * The responder's message, and the keys. @param ephemeral 32 fresh random bytes.
 * @returns `undefined` where the peer's public key would give a secret that everybody knows.
 */
export function writeWelcome(
  hello: { readonly state: Transcript; readonly peer: Uint8Array },
  ephemeral: Uint8Array,
  payload: Uint8Array,
) {
  const publicKey = publicKeyOf(ephemeral);
  const secret = sharedSecret(ephemeral, hello.peer);
  if (secret === undefined) return undefined;
  const { sealed, state } = sealPayload(mixSecret(mixPublic(hello.state, publicKey), secret), payload);
  return { bytes: Uint8Array.from([...publicKey, ...sealed]), keys: split(state) };
}

/** The keys the initiator has from it; `undefined` for anything that does not answer its own message. */
export function readWelcome(state: Transcript, ephemeral: Uint8Array, bytes: Uint8Array) {
  if (bytes.length < shortestMessage) return undefined;
  const peer = bytes.slice(0, keyLength);
  const secret = sharedSecret(ephemeral, peer);
  if (secret === undefined) return undefined;
  const opened = openPayload(mixSecret(mixPublic(state, peer), secret), bytes.subarray(keyLength));
  return opened && { payload: opened.payload, keys: split(opened.state) };
}
