/** What time it is for edge's own tokens: the machine's, corrected by what the cloud last said. It decides nothing. */
export interface EdgeClock {
  /** Wall time, ms. */
  now(): number;
  /** @param at what the cloud said just now; anything but a time is ignored. */
  heard(at: number): void;
}

/** A smaller difference is the way of the answer, not a wrong clock. */
const toleratedMs = 10_000;

export function createEdgeClock(wall: () => number): EdgeClock {
  let offsetMs = 0;
  return {
    now: () => wall() + offsetMs,
    heard: (at) => {
      if (!Number.isSafeInteger(at)) return;
      const difference = at - wall();
      offsetMs = Math.abs(difference) > toleratedMs ? difference : 0;
    },
  };
}
