/** A way between two ends that drops, copies, damages and delays what is sent, so that messages also overtake each other. */

/** One that arrives. */
export interface Copy {
  readonly bytes: Uint8Array;
  /** Milliseconds later than without trouble. */
  readonly delayMs: number;
}

/** The likelihood of each trouble, from 0 to 1. */
interface Weather {
  readonly loss: number;
  readonly copies: number;
  readonly damage: number;
  readonly delay: number;
  readonly longestDelayMs: number;
}

/** @returns what becomes of each message: the copies that arrive; none is a loss. */
export function storm(
  random: () => number,
  weather: Weather,
): (direction: unknown, bytes: Uint8Array) => readonly Copy[] {
  const damaged = (bytes: Uint8Array) => {
    const at = Math.floor(random() * bytes.length);
    return bytes.with(at, (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8)));
  };
  return (_direction, bytes) => {
    if (random() < weather.loss) return [];
    const count = random() < weather.copies ? 2 : 1;
    return Array.from({ length: count }, () => ({
      bytes: random() < weather.damage ? damaged(bytes) : bytes,
      delayMs: random() < weather.delay ? Math.floor(random() * weather.longestDelayMs) : 0,
    }));
  };
}
