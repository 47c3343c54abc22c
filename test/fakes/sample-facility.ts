/** A facility of any size, the same for the same arguments, with the lookups of its cards. */

import type { CardBits } from '#gateway/door/access-request.ts';
import { encodeCard } from '#protocol/wiegand/encode-card.ts';
import { normalizeCard } from '#protocol/wiegand/normalize-card.ts';
import { h10304 } from '#protocol/wiegand/standard-formats.ts';
import {
  type CredentialRow,
  credentialRow,
  doorRow,
  type FacilityRows,
  facilityRow,
  type GrantRow,
  grantRow,
  type HolderRow,
  holderRow,
  readerRow,
  scheduleRow,
} from '#shared/contract/replica-row.ts';
import { createCredentialLookup } from '#shared/credential-lookup.ts';

/** Keys for tests, published and worthless. */
export const testRowKey: Uint8Array = new Uint8Array(32).fill(0x11);
export const testLookupKey: Uint8Array = new Uint8Array(32).fill(0x22);

/** The card of the credential with this index. */
export function sampleCard(index: number): CardBits {
  const bits = encodeCard(h10304, { facility: index >> 18, number: index & 0x3ffff });
  if (bits === undefined) throw new Error(`no card ${index}`);
  return bits;
}

const lookup = createCredentialLookup(testLookupKey);

export function sampleLookup(index: number): string {
  const normalized = normalizeCard(sampleCard(index), 'as-read');
  if (normalized === undefined) throw new Error(`no bits for card ${index}`);
  return lookup.ofCard(normalized);
}

export const sampleStart = Date.UTC(2026, 0, 1);

export function sampleCredential(index: number): CredentialRow {
  return credentialRow.parse({
    id: `c${index}`,
    holder: `h${index}`,
    kind: 'card',
    lookup: sampleLookup(index),
    status: index % 50 === 7 ? 'revoked' : index % 50 === 8 ? 'suspended' : 'issued',
    validFrom: index % 3 === 0 ? sampleStart : null,
    validUntil: index % 4 === 0 ? sampleStart + (index % 400) * 86_400_000 : null,
    leaseMs: index % 2 === 0 ? 86_400_000 : 'unlimited',
    version: 1,
  });
}

/** Credential i opens doors i mod doors and, if odd, its neighbour; every third by office hours only. */
export function sampleGrants(index: number, doors: number): GrantRow[] {
  const schedule = index % 3 === 0 ? 'office' : null;
  const grantAt = (door: number) =>
    grantRow.parse({ grant: `g${index}`, credential: `c${index}`, door: `d${door}`, schedule, version: 1 });
  const grants = [grantAt(index % doors)];
  if (index % 2 === 1 && doors > 1) grants.push(grantAt((index + 1) % doors));
  return grants;
}

const holder = (index: number): HolderRow => holderRow.parse({ id: `h${index}`, name: `Holder ${index}`, version: 1 });
const counted = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index));

export function sampleFacility(credentials: number, doors: number): FacilityRows {
  return {
    facility: facilityRow.parse({
      id: 'site',
      name: 'Site',
      zone: 'Asia/Tokyo',
      pinSalt: '33'.repeat(16),
      version: 1,
    }),
    schedules: [
      scheduleRow.parse({
        id: 'office',
        name: 'Office hours',
        weekly: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', until: '19:00' }],
        version: 1,
      }),
    ],
    holidays: [],
    doors: counted(doors, (index) =>
      doorRow.parse({
        id: `d${index}`,
        name: `Door ${index}`,
        lock: { device: `device-${index}`, output: 0 },
        version: 1,
      }),
    ),
    readers: counted(doors, (index) =>
      readerRow.parse({
        id: `r${index}`,
        name: `Reader ${index}`,
        door: `d${index}`,
        device: `device-${index}`,
        version: 1,
      }),
    ),
    holders: counted(credentials, holder),
    credentials: counted(credentials, sampleCredential),
    grants: counted(credentials, (index) => sampleGrants(index, doors)).flat(),
  };
}
