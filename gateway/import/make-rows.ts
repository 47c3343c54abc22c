/**
 * The rows of a replica out of what was written and checked: versions, salts, times as instants, lookups for numbers.
 */
import { scryptSync } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { readWrittenCard } from '#protocol/wiegand/written-card.ts';
import type { CredentialRow, FacilityRows, GrantRow } from '#shared/contract/replica-row.ts';
import { type CredentialLookup, createCredentialLookup, pinSlowHash } from '#shared/credential-lookup.ts';
import type { WallMs } from '#shared/instant.ts';
import { invariant } from '#shared/invariant.ts';
import { civilMoment } from './civil-moment.ts';
import type { Placed, WrittenRows } from './read-rows.ts';

export interface RowKeys {
  readonly lookupKey: Uint8Array;
  /** Salt of the facility's PINs, 16 bytes in hexadecimal. */
  readonly pinSalt: string;
  readonly onProgress: (text: string) => void;
  /** Heard before each PIN. */
  readonly signal: AbortSignal;
}

/** Every import is a new epoch, so that versions begin again. */
const version = 1;
const pinsPerReport = 10;

/**
 * @param rows have passed every check.
 * @throws the reason of `keys.signal` when it is aborted.
 */
export async function makeRows(rows: WrittenRows, keys: RowKeys): Promise<FacilityRows> {
  const [facility] = rows.facility;
  invariant(facility !== undefined, 'a set without a facility has been refused');
  const { zone } = facility.row;
  const credentials = await makeCredentials(rows.credentials, { ...keys, zone });
  const versioned = <Row extends object>(placed: readonly Placed<Row>[]) =>
    placed.map(({ row }) => ({ ...row, version }));
  return {
    facility: { ...facility.row, pinSalt: keys.pinSalt, version },
    schedules: versioned(rows.schedules),
    holidays: versioned(rows.holidays),
    doors: versioned(rows.doors),
    readers: versioned(rows.readers),
    holders: versioned(rows.holders),
    credentials,
    grants: rows.grants.flatMap(({ row }) => grantRows(row, zone)),
  };
}

interface CredentialKeys extends RowKeys {
  readonly zone: string;
}

async function makeCredentials(
  placed: WrittenRows['credentials'],
  keys: CredentialKeys,
): Promise<readonly CredentialRow[]> {
  const lookup = createCredentialLookup(keys.lookupKey);
  const pinCount = placed.filter(({ row }) => row.pin !== undefined).length;
  const made: CredentialRow[] = [];
  for (const credential of placed) {
    const found = cardLookup(credential, lookup);
    if (found !== undefined) made.push(credentialRowOf(credential.row, { kind: 'card', lookup: found }, keys.zone));
  }
  let hashed = 0;
  for (const { row } of placed) {
    if (row.pin === undefined) continue;
    keys.signal.throwIfAborted();
    const slowHash = slowHashOf(row.pin, keys.pinSalt);
    made.push(credentialRowOf(row, { kind: 'pin', lookup: lookup.ofPin(slowHash) }, keys.zone));
    hashed += 1;
    if (hashed % pinsPerReport === 0 || hashed === pinCount) keys.onProgress(`PINs: ${hashed} of ${pinCount}`);
    // An order to give up arrives as a message: the thread must listen between one PIN and the next.
    await setImmediate();
  }
  return made;
}

function cardLookup({ place, row }: WrittenRows['credentials'][number], lookup: CredentialLookup): string | undefined {
  if (row.card === undefined) return undefined;
  const reading = readWrittenCard(row.card);
  invariant(reading.kind === 'card', `the card of ${row.id} at line ${place.line} has been checked`);
  return lookup.ofCard(reading.normalized);
}

function slowHashOf(pin: string, salt: string): Uint8Array {
  const { N, r, p, bytes } = pinSlowHash;
  return scryptSync(pin, Buffer.from(salt, 'hex'), bytes, { N, r, p });
}

function credentialRowOf(
  written: WrittenRows['credentials'][number]['row'],
  found: Pick<CredentialRow, 'kind' | 'lookup'>,
  zone: string,
): CredentialRow {
  const { card: _card, pin: _pin, ...row } = written;
  return { ...row, ...found, ...instants(written, zone), version };
}

function grantRows(written: WrittenRows['grants'][number]['row'], zone: string): readonly GrantRow[] {
  const { id: grant, schedule } = written;
  const shared = { grant, schedule, ...instants(written, zone), version };
  return written.credentials.flatMap((credential) => written.doors.map((door) => ({ ...shared, credential, door })));
}

interface WrittenValidity {
  readonly validFrom: string | null;
  readonly validUntil: string | null;
}

function instants({ validFrom, validUntil }: WrittenValidity, zone: string) {
  return { validFrom: instant(validFrom, zone, 'from'), validUntil: instant(validUntil, zone, 'until') };
}

function instant(text: string | null, zone: string, bound: 'from' | 'until'): WallMs | null {
  if (text === null) return null;
  const at = civilMoment(text, zone, bound);
  invariant(at !== undefined, `${text} has been checked`);
  return at;
}
