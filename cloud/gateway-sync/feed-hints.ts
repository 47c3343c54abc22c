/**
 * Hints: "something may be new for this gateway", told to whoever holds its poll.
 *
 * Only ever a hint: it may be lost, doubled or late, and nothing but the next look into the database depends on it.
 * Given after the commit, never inside a business transaction.
 */
export interface FeedHints {
  /** Never fails: what cannot be told is found at the end of the wait. */
  readonly publish: (gatewayIds: readonly string[]) => Promise<void>;
  /** @returns how to stop. */
  readonly subscribe: (listener: (gatewayId: string) => void) => () => void;
  readonly close: () => Promise<void>;
}

/** As many ids in one message; PostgreSQL carries 8 000 bytes. */
const hintIdsMax = 100;

/** Listeners of one process; what an adapter hears goes to them too. */
export interface HintListeners {
  readonly subscribe: FeedHints['subscribe'];
  readonly tell: (gatewayIds: readonly string[]) => void;
}

export function createHintListeners(): HintListeners {
  const listeners = new Set<(gatewayId: string) => void>();
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: (gatewayIds) => {
      for (const gatewayId of gatewayIds) for (const listener of listeners) listener(gatewayId);
    },
  };
}

/** For one process that is the whole cloud. */
export function createLocalHints(): FeedHints {
  const { subscribe, tell } = createHintListeners();
  return { subscribe, publish: async (gatewayIds) => tell(gatewayIds), close: async () => undefined };
}

/** What came as a message, if it is one of ours. @param text ids separated by spaces. */
export function hintedIds(text: string): readonly string[] {
  return text.length > 8_000 ? [] : text.split(' ').filter((id) => /^[A-Za-z0-9._-]{1,64}$/.test(id));
}

export function* hintMessages(gatewayIds: readonly string[]): Generator<string> {
  for (let at = 0; at < gatewayIds.length; at += hintIdsMax) yield gatewayIds.slice(at, at + hintIdsMax).join(' ');
}
