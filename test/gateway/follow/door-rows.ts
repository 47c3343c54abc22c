/** The small facility of the running door as a cloud would send it, found by the cloud's own lookup key. */
import { normalizeCard } from '#protocol/wiegand/normalize-card.ts';
import {
  type CredentialRow,
  credentialRow,
  doorRow,
  facilityRow,
  grantRow,
  holderRow,
  readerRow,
} from '#shared/contract/replica-row.ts';
import type { FeedPut } from '#shared/contract/sync/feed.ts';
import { createCredentialLookup } from '#shared/credential-lookup.ts';
import { facility, put } from '../../fakes/signing-cloud.ts';
import { bitsOf, type numbers } from '../operate/running-door.ts';

type Person = keyof typeof numbers;

export function cardOf(person: Person, lookupKey: Uint8Array, fields: Partial<CredentialRow> = {}): CredentialRow {
  const normalized = normalizeCard(bitsOf(person), 'as-read');
  if (normalized === undefined) throw new Error(`no card for ${person}`);
  const lookup = createCredentialLookup(lookupKey).ofCard(normalized);
  const fixed = { id: `${person}-card`, holder: person, kind: 'card', lookup };
  return credentialRow.parse({ status: 'issued', leaseMs: 'unlimited', version: 1, ...fixed, ...fields });
}

/** @param people who have a card and may pass both doors. */
export function doorRows(people: readonly Person[], lookupKey: Uint8Array, leaseMs?: number): readonly FeedPut[] {
  const lease = leaseMs === undefined ? {} : { leaseMs };
  return [
    put(
      'facility',
      facilityRow.parse({ id: facility, name: 'Cloud', zone: 'UTC', pinSalt: '11'.repeat(16), version: 1 }),
    ),
    ...(['hall', 'safe'] as const).flatMap((id) => [
      put(
        'door',
        doorRow.parse({ id, name: id, lock: { device: `${id}-reader`, output: 0 }, strikeMs: 200, version: 1 }),
      ),
      put('reader', readerRow.parse({ id, name: id, door: id, device: `${id}-reader`, version: 1 })),
    ]),
    ...people.flatMap((person) => [
      put('holder', holderRow.parse({ id: person, name: `Holder ${person}`, version: 1 })),
      put('credential', cardOf(person, lookupKey, lease)),
      ...(['hall', 'safe'] as const).map((door) =>
        put('grant', grantRow.parse({ grant: `g-${person}`, credential: `${person}-card`, door, version: 1 })),
      ),
    ]),
  ];
}
