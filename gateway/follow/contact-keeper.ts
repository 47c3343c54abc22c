/**
 * Since when there was verified contact with the cloud: what a lease is measured by.
 *
 * Persisted seldom, since each write wears the disk: after a restart contact then seems older than it was, never younger.
 */
import type { CanonicalValue } from '#shared/canonical.ts';
import { elapsedMs, type MonoMs, monoMs, wallMs } from '#shared/instant.ts';
import type { StateMemory } from '../access/state-memory.ts';
import type { TimeKeeper } from '../clock/time-keeper.ts';
import { usableNow } from '../door/access-rule.ts';
import { type Contact, contactAgeMs } from '../door/contact-age.ts';
import type { StateWrite } from '../journal/entry.ts';

export interface ContactPorts {
  readonly now: () => MonoMs;
  readonly time: Pick<TimeKeeper, 'read'>;
  readonly bootId: string;
  readonly memory: StateMemory;
  readonly keep: (state: readonly StateWrite[]) => void;
}

const persistEveryMs = 5 * 60_000;
const key = 'cloud';

export class ContactKeeper {
  readonly #ports: ContactPorts;
  #contact: Contact | undefined;
  #persistedAt: MonoMs | undefined;

  constructor(ports: ContactPorts) {
    this.#ports = ports;
    this.#contact = contactFrom(ports.memory.read('contact', key));
  }

  ageMs(): number | 'unknown' {
    const { bootId, now, time } = this.#ports;
    return contactAgeMs(this.#contact, { bootId, at: now(), clock: time.read() });
  }

  /** @param at when the question was asked that the cloud has answered. */
  renew(at: MonoMs): void {
    const { bootId, now, time, keep } = this.#ports;
    const wallNow = usableNow(time.read());
    const wall = wallNow === undefined ? undefined : wallMs(Math.floor(wallNow - elapsedMs(at, now())));
    this.#contact = { bootId, at, wall };
    if (this.#persistedAt !== undefined && elapsedMs(this.#persistedAt, at) < persistEveryMs) return;
    this.#persistedAt = at;
    keep([{ kind: 'contact', key, value: { bootId, at: Math.floor(at), wall: wall ?? null } }]);
  }

  forget(): void {
    this.#contact = undefined;
    this.#persistedAt = undefined;
    this.#ports.keep([{ kind: 'contact', key, value: null }]);
  }
}

function contactFrom(value: CanonicalValue | undefined): Contact | undefined {
  if (value === undefined || value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  const { bootId, at, wall } = value as Readonly<Record<string, CanonicalValue | undefined>>;
  if (typeof bootId !== 'string' || typeof at !== 'number') return undefined;
  return { bootId, at: monoMs(at), wall: typeof wall === 'number' ? wallMs(wall) : undefined };
}
