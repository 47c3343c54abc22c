/** Numbers that look random and are the same again for the same seed. */
import { seededRandom } from '../../fakes/seeded-random.ts';

export class Random {
  /** In [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    // Neighbouring seeds begin far apart.
    this.next = seededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `min` to `max`, both possible. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<Of>(list: readonly Of[]): Of | undefined {
    return list[Math.floor(this.next() * list.length)];
  }
}
