/**
 * The slow hash of PINs, off the event loop and never more of it at once than there is room for.
 *
 * Guarantee: the same bytes as a door computes for the same PIN and salt; whoever comes when the queue is full is told so
 * at once.
 */
import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { pinSlowHash } from '#shared/credential-lookup.ts';

export interface PinHasher {
  /** @param salt of the facility, 16 bytes. @returns 32 bytes, or `undefined` where too many are waiting. */
  readonly hash: (pin: string, salt: Uint8Array) => Promise<Uint8Array | undefined>;
}

const scryptAsync = promisify<string, Uint8Array, number, { N: number; r: number; p: number }, Buffer>(scrypt);

/** Two of the four threads that everything else of the process shares. */
const atOnce = 2;
/** About ten seconds of work. */
const waitingMaxDefault = 500;

export function createPinHasher(waitingMax = waitingMaxDefault): PinHasher {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function take(): Promise<void> {
    if (running < atOnce) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  /** The place goes to who waits longest, without a moment in which a third could take it. */
  function give(): void {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  return {
    async hash(pin, salt) {
      if (waiting.length >= waitingMax) return undefined;
      await take();
      try {
        const { bytes, ...cost } = pinSlowHash;
        return new Uint8Array(await scryptAsync(pin, salt, bytes, cost));
      } finally {
        give();
      }
    },
  };
}
