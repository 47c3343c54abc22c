/**
 * Passwords as argon2id hashes (19 MiB, 2 passes, 1 lane).
 *
 * Guarantees: a password that nobody has costs as much time as one that somebody has; at most a few are computed at once,
 * so that guesses cannot take the machine's memory.
 */
import { hash, verify } from '@node-rs/argon2';
import { RequestRefused } from '#cloud/http/problem.ts';

// argon2id is the library's default, and the database takes nothing else.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const atOnceMax = 4;
const waitingMax = 64;

let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= atOnceMax) {
    if (waiting.length >= waitingMax) throw new RequestRefused({ refused: 'RATE_LIMITED' }, 2);
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    return await work();
  } finally {
    // The turn passes on without being given back.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** @throws RequestRefused RATE_LIMITED where too many wait. */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password, cost));

let nobodysHash: Promise<string> | undefined;

/** @param stored `undefined` where nobody has the address: takes as long, and is never right. */
export async function isRightPassword(stored: string | undefined, password: string): Promise<boolean> {
  nobodysHash ??= hash('nobody has this password', cost);
  const against = stored ?? (await nobodysHash);
  const isRight = await inTurn(() => verify(against, password));
  return isRight && stored !== undefined;
}
