/**
 * The same decisions, made the plain way: all rows in memory, rules written down one after another, civil time by hand.
 *
 * Shares nothing with the decision but the shapes of rows, so that both would have to be wrong in the same way.
 * Knows what `sampleFacility` can contain: one schedule, in a zone nine hours ahead of UTC that never changes its clocks.
 */

import type { AccessRequest } from '#gateway/door/access-request.ts';
import type { LiveState } from '#gateway/door/gather-facts.ts';
import type { CredentialRow, FacilityRows, GrantRow, ScheduleRow } from '#shared/contract/replica-row.ts';
import { identifier } from '#shared/identifier.ts';
import { monoMs, wallMs } from '#shared/instant.ts';
import { sampleCard } from '../fakes/sample-facility.ts';

/** One question: this card, at this door, then, so long after the last contact with the cloud. */
export interface Question {
  readonly card: number;
  readonly door: number;
  readonly now: number;
  readonly contactAgeMs: number;
}

export interface Bounds {
  /** Cards that exist; one question in fifty is about one that does not. */
  readonly cards: number;
  readonly doors: number;
  readonly from: number;
  readonly until: number;
}

const dayMs = 86_400_000;

export function randomQuestion(random: () => number, { cards, doors, from, until }: Bounds): Question {
  const below = (limit: number) => Math.floor(random() * limit);
  const card = below(cards + Math.ceil(cards / 50));
  const isAtItsDoor = random() < 0.7;
  return {
    card,
    door: isAtItsDoor ? card % doors : below(doors),
    now: from + below(until - from),
    contactAgeMs: below(2 * dayMs),
  };
}

export function requestOf({ card, door }: Question): AccessRequest {
  return {
    requestId: identifier('question'),
    device: identifier(`device-${door}`),
    head: 0,
    presented: { kind: 'card', card: sampleCard(card) },
    receivedAt: monoMs(0),
    deviceAgeMs: 0,
  };
}

/** Everything about the gateway that a question does not vary is at its most permitting. */
export function liveStateOf(current: () => Question): LiveState {
  return {
    now: () => monoMs(1),
    clock: () => ({ state: 'trusted', now: wallMs(current().now), errorMs: 0 }),
    journal: () => 'available',
    contactAgeMs: () => current().contactAgeMs,
    door: () => permittingDoor,
    guessing: () => 'open',
    usesSpent: () => 0,
    holderArea: () => undefined,
  };
}

const permittingDoor = {
  mode: 'controlled',
  lock: 'ready',
  hasFirstPersonEntered: true,
  escortWaiting: undefined,
  interlockedBy: undefined,
} as const;

export class Oracle {
  readonly #credentials: ReadonlyMap<string, CredentialRow>;
  readonly #grants = new Map<string, GrantRow[]>();
  readonly #schedules: ReadonlyMap<string, ScheduleRow>;

  constructor(rows: FacilityRows) {
    this.#credentials = new Map(rows.credentials.map((row) => [row.id, row]));
    this.#schedules = new Map(rows.schedules.map((row) => [row.id, row]));
    for (const grant of rows.grants) {
      const key = `${grant.credential}/${grant.door}`;
      this.#grants.set(key, [...(this.#grants.get(key) ?? []), grant]);
    }
  }

  /** @returns the code of the decision. */
  decide({ card, door, now, contactAgeMs }: Question): string {
    const credential = this.#credentials.get(`c${card}`);
    if (credential === undefined) return 'CREDENTIAL_UNKNOWN';
    if (credential.status === 'revoked') return 'CREDENTIAL_REVOKED';
    if (credential.status === 'suspended') return 'CREDENTIAL_SUSPENDED';
    if (credential.validFrom !== null && now < credential.validFrom) return 'CREDENTIAL_NOT_YET_VALID';
    if (credential.validUntil !== null && now >= credential.validUntil) return 'CREDENTIAL_EXPIRED';
    if (credential.leaseMs !== 'unlimited' && contactAgeMs > credential.leaseMs) return 'REPLICA_STALE';
    const grants = this.#grants.get(`c${card}/d${door}`) ?? [];
    if (grants.length === 0) return 'DOOR_NOT_GRANTED';
    return grants.some((grant) => this.isOpen(grant.schedule, now)) ? 'GRANTED' : 'OUTSIDE_SCHEDULE';
  }

  credential(card: number): CredentialRow | undefined {
    return this.#credentials.get(`c${card}`);
  }

  grants(card: number, door: number): readonly GrantRow[] {
    return this.#grants.get(`c${card}/d${door}`) ?? [];
  }

  /** Whether a grant with this schedule is in force at `now`. */
  isOpen(schedule: string | null, now: number): boolean {
    if (schedule === null) return true;
    const civil = new Date(now + 9 * 3_600_000);
    const day = (['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const)[civil.getUTCDay()];
    const time = civil.toISOString().slice(11, 16);
    const intervals = this.#schedules.get(schedule)?.weekly ?? [];
    return intervals.some(({ days, from, until }) => days.some((d) => d === day) && from <= time && time < until);
  }
}
