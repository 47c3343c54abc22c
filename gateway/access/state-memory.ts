/**
 * The state that decisions read at once and the journal keeps: uses, areas, limiters, modes.
 *
 * Memory changes when a decision is made, the disk with the entry it belongs to. A write that did not become durable is
 * put back by its caller. Bounded by what a facility holds: a key is a credential, holder, reader or door that exists.
 */
import type { CanonicalValue } from '#shared/canonical.ts';
import type { StateWrite } from '../journal/entry.ts';

export interface StateMemory {
  read(kind: StateWrite['kind'], key: string): CanonicalValue | undefined;
  /** Changes memory and returns what the journal must write; `null` forgets. */
  write(kind: StateWrite['kind'], key: string, value: CanonicalValue): StateWrite;
  keys(kind: StateWrite['kind']): readonly string[];
}

export function createStateMemory(durable: readonly StateWrite[]): StateMemory {
  const tables = new Map<StateWrite['kind'], Map<string, CanonicalValue>>();
  const tableOf = (kind: StateWrite['kind']) => {
    const known = tables.get(kind);
    if (known) return known;
    const fresh = new Map<string, CanonicalValue>();
    tables.set(kind, fresh);
    return fresh;
  };
  const put = (kind: StateWrite['kind'], key: string, value: CanonicalValue) => {
    if (value === null) tableOf(kind).delete(key);
    else tableOf(kind).set(key, value);
  };
  for (const { kind, key, value } of durable) put(kind, key, value);
  return {
    read: (kind, key) => tableOf(kind).get(key),
    write: (kind, key, value) => {
      put(kind, key, value);
      return { kind, key, value };
    },
    keys: (kind) => [...tableOf(kind).keys()],
  };
}
