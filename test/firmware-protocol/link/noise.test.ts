import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { open, seal } from '#protocol/link/aead.ts';
import { readHello, readWelcome, writeHello, writeWelcome } from '#protocol/link/noise.ts';
import { sharedSecret } from '#protocol/link/x25519.ts';

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const nothing = new Uint8Array(0);

interface Vector {
  readonly init_prologue: string;
  readonly init_psks: readonly [string];
  readonly init_ephemeral: string;
  readonly resp_ephemeral: string;
  readonly handshake_hash: string;
  readonly messages: readonly { readonly payload: string; readonly ciphertext: string }[];
}

const file = join(import.meta.dirname, 'vectors', 'noise-nnpsk0-25519-chachapoly-sha256.json');
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { readonly vectors: readonly [Vector] };
const [vector] = vectors;
const secret = { key: hex(vector.init_psks[0]), prologue: hex(vector.init_prologue) };
const initiator = hex(vector.init_ephemeral);
const responder = hex(vector.resp_ephemeral);
const [first, second, ...transport] = vector.messages.map(({ payload, ciphertext }) => ({
  payload: hex(payload),
  ciphertext: hex(ciphertext),
}));

function bothSides() {
  if (first === undefined || second === undefined) throw new Error('the vector has no handshake');
  const written = writeHello(secret, initiator, first.payload);
  const read = readHello(secret, written.bytes);
  if (read === undefined) throw new Error('hello is refused');
  const welcome = writeWelcome(read, responder, second.payload);
  if (welcome === undefined) throw new Error('no welcome');
  const end = readWelcome(written.state, initiator, welcome.bytes);
  if (end === undefined) throw new Error('welcome is refused');
  return { written, read, welcome, end };
}

it('writes and reads the published handshake', () => {
  const { written, read, welcome, end } = bothSides();
  expect(written.bytes).toEqual(first?.ciphertext);
  expect(read.payload).toEqual(first?.payload);
  expect(welcome.bytes).toEqual(second?.ciphertext);
  expect(end.payload).toEqual(second?.payload);
  expect(end.keys).toEqual(welcome.keys);
  expect(end.keys.hash).toEqual(hex(vector.handshake_hash));
});

it('seals and opens the published transport messages with the keys of the handshake', () => {
  const { keys } = bothSides().end;
  expect(transport.length).toBe(4);
  for (const [index, { payload, ciphertext }] of transport.entries()) {
    const key = index % 2 === 0 ? keys.toResponder : keys.toInitiator;
    const counter = Math.floor(index / 2);
    expect(seal(key, counter, nothing, payload)).toEqual(ciphertext);
    expect(open(key, counter, nothing, ciphertext)).toEqual(payload);
    expect(open(key, counter + 1, nothing, ciphertext)).toBeUndefined();
  }
});

it('refuses a handshake message with any bit changed, of any length, under another key or prologue', () => {
  const { written, welcome } = bothSides();
  const flip = (bytes: Uint8Array, bit: number) => bytes.with(bit >> 3, (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)));
  for (let bit = 0; bit < written.bytes.length * 8; bit += 1) {
    expect(readHello(secret, flip(written.bytes, bit))).toBeUndefined();
  }
  for (let bit = 0; bit < welcome.bytes.length * 8; bit += 1) {
    expect(readWelcome(written.state, initiator, flip(welcome.bytes, bit))).toBeUndefined();
  }
  for (let length = 0; length < written.bytes.length; length += 1) {
    expect(readHello(secret, written.bytes.subarray(0, length))).toBeUndefined();
  }
  for (let length = 0; length < welcome.bytes.length; length += 1) {
    expect(readWelcome(written.state, initiator, welcome.bytes.subarray(0, length))).toBeUndefined();
  }
  expect(readHello({ ...secret, key: secret.key.with(0, 0) }, written.bytes)).toBeUndefined();
  expect(readHello({ ...secret, prologue: nothing }, written.bytes)).toBeUndefined();
});

// RFC 7748, 5.2.
it('agrees on the published secret', () => {
  const scalar = hex('a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4');
  const point = hex('e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c');
  expect(sharedSecret(scalar, point)).toEqual(hex('c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552'));
});

it('makes no secret with a point of small order, whatever its top bit', () => {
  for (const top of [0, 0x80]) {
    for (const point of [
      '00'.repeat(32),
      `01${'00'.repeat(31)}`,
      'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
      '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
      `ec${'ff'.repeat(30)}7f`,
      `ed${'ff'.repeat(30)}7f`,
      `ee${'ff'.repeat(30)}7f`,
    ]) {
      const bytes = hex(point);
      expect(sharedSecret(initiator, bytes.with(31, (bytes[31] ?? 0) | top))).toBeUndefined();
    }
  }
});
