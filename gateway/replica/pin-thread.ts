/**
 * The thread that hashes PINs, one at a time: some 36 ms each, which no line and no other door waits for.
 * Not on libuv's pool, where four of these would delay the reading of serial lines.
 */
import { scryptSync } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { pinSlowHash } from '#shared/credential-lookup.ts';
import { invariant } from '#shared/invariant.ts';

export interface PinJob {
  readonly id: number;
  readonly digits: string;
  /** 16 bytes in hexadecimal. */
  readonly salt: string;
}

export interface PinAnswer {
  readonly id: number;
  readonly slowHash: Uint8Array;
}

invariant(parentPort !== null, 'the PIN thread runs as a worker');
const port = parentPort;
const { N, r, p, bytes } = pinSlowHash;

port.on('message', ({ id, digits, salt }: PinJob) => {
  const slowHash = scryptSync(digits, Buffer.from(salt, 'hex'), bytes, { N, r, p });
  port.postMessage({ id, slowHash: new Uint8Array(slowHash) } satisfies PinAnswer);
});
