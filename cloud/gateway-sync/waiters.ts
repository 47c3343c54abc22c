/**
 * Who waits for which gateway's feed. A waiter holds nothing but a timer: no connection to the database.
 *
 * A ticket is taken before the look into the database and waited on after it, so that what comes in between is not missed.
 * Guarantee: every wait ends by its time, a wake, the caller's signal or the close; there is a limit to how many there are.
 */
export type WaitEnd = 'woken' | 'time' | 'gone';

export interface Ticket {
  readonly wait: (waitMs: number, signal: AbortSignal) => Promise<WaitEnd>;
  readonly leave: () => void;
}

export interface Waiters {
  /** @returns `undefined` where there are too many. */
  readonly enter: (gatewayId: string) => Ticket | undefined;
  readonly wake: (gatewayId: string) => void;
  readonly count: () => number;
  /** Ends every wait, and those to come. */
  readonly close: () => void;
}

interface Place {
  isWoken: boolean;
  wake: (() => void) | undefined;
}

/** Of one gateway: a poll that its edge gave up may still stand here when the next one comes. */
const placesPerGateway = 4;

export function createWaiters(placesMax = 50_000): Waiters {
  const places = new Map<string, Set<Place>>();
  let [count, isClosed] = [0, false];

  function leave(gatewayId: string, place: Place): void {
    const mine = places.get(gatewayId);
    if (!mine?.delete(place)) return;
    count -= 1;
    if (mine.size === 0) places.delete(gatewayId);
  }

  function enter(gatewayId: string): Ticket | undefined {
    if (isClosed || count >= placesMax) return undefined;
    const mine = places.get(gatewayId) ?? new Set<Place>();
    const [oldest] = mine;
    if (oldest && mine.size >= placesPerGateway) {
      wakePlace(oldest);
      leave(gatewayId, oldest);
    }
    const place: Place = { isWoken: false, wake: undefined };
    places.set(gatewayId, mine.add(place));
    count += 1;
    return {
      wait: (waitMs, signal) => waitAt(place, waitMs, signal),
      leave: () => leave(gatewayId, place),
    };
  }

  return {
    enter,
    wake: (gatewayId) => {
      for (const place of places.get(gatewayId) ?? []) wakePlace(place);
    },
    count: () => count,
    close: () => {
      isClosed = true;
      for (const mine of places.values()) for (const place of mine) wakePlace(place);
    },
  };
}

function wakePlace(place: Place): void {
  place.isWoken = true;
  place.wake?.();
}

function waitAt(place: Place, waitMs: number, signal: AbortSignal): Promise<WaitEnd> {
  if (signal.aborted) return Promise.resolve('gone');
  if (place.isWoken) return Promise.resolve('woken');
  return new Promise((resolve) => {
    const end = (how: WaitEnd): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      place.wake = undefined;
      resolve(how);
    };
    const onAbort = (): void => end('gone');
    const timer = setTimeout(end, waitMs, 'time');
    signal.addEventListener('abort', onAbort, { once: true });
    place.wake = () => end('woken');
  });
}
