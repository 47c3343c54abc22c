/** Cards that are not known here, kept a minute in memory for whoever enrols them; never written, never logged. */
import { elapsedMs, type MonoMs } from '#shared/instant.ts';
import type { UnknownRead } from '../control/replies.ts';
import type { AccessRequest, CardBits } from '../door/access-request.ts';

const keptMs = 60_000;
const readsMax = 32;

export class UnknownReads {
  #reads: readonly { readonly request: AccessRequest; readonly at: MonoMs }[] = [];
  readonly #now: () => MonoMs;
  #onRead: (request: AccessRequest) => void = () => {};

  constructor(now: () => MonoMs) {
    this.#now = now;
  }

  /** Told of each, as it comes. */
  onRead(told: (request: AccessRequest) => void): void {
    this.#onRead = told;
  }

  keep(request: AccessRequest): void {
    this.forgetOld();
    this.#onRead(request);
    this.#reads = [...this.#reads, { request, at: this.#now() }].slice(-readsMax);
  }

  list(): readonly UnknownRead[] {
    this.forgetOld();
    return this.#reads.flatMap(({ request, at }) => {
      const { presented, device, head } = request;
      if (presented.kind === 'pin') return [];
      const { bitCount } = presented.card;
      return [
        { device, head, bitCount, bits: bitsText(presented.card), ageMs: Math.round(elapsedMs(at, this.#now())) },
      ];
    });
  }

  /** To be called every second or so: what is old is gone even if nobody asks. */
  forgetOld(): void {
    this.#reads = this.#reads.filter(({ at }) => elapsedMs(at, this.#now()) < keptMs);
  }
}

/** The bits as they were read, the first first. */
export function bitsText({ bitCount, bytes }: CardBits): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.slice(0, bitCount);
}
