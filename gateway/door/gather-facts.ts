/**
 * Reads everything that one decision needs: the one impure neighbour of the pure decision.
 *
 * Guarantees: a card's facts are gathered without a pause, so that they belong together; a PIN's are gathered after its
 * slow hash, for the same reason. Nothing is caught here: what throws (a disk, a thread) is a decision of its own
 * (`decideFault`), made by whoever asked.
 * Not promised: that a fact still holds when the lock moves.
 */

import { decodeCard } from '#protocol/wiegand/decode-card.ts';
import { normalizeCard } from '#protocol/wiegand/normalize-card.ts';
import type { CredentialRow, DoorRow, GrantRow, ReaderRow, Rule } from '#shared/contract/replica-row.ts';
import type { CredentialLookup } from '#shared/credential-lookup.ts';
import type { CredentialId, DoorId, HolderId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { CredentialReading } from '../replica/credential-reader.ts';
import type { PinHasher } from '../replica/pin-hasher.ts';
import type { ReplicaReader } from '../replica/replica-reader.ts';
import type { AccessRequest, CardBits } from './access-request.ts';
import type { ClockFact, CredentialFact, DoorFact, Facts, GrantFact, RuleFact, SecondFactorFact } from './facts.ts';
import { formatsInUse } from './formats-in-use.ts';

/** What the running gateway knows and no replica holds. Every answer is immediate. */
export interface LiveState {
  readonly now: () => MonoMs;
  readonly clock: () => ClockFact;
  readonly journal: () => Facts['journal'];
  readonly contactAgeMs: () => number | 'unknown';
  readonly door: (door: DoorRow) => LiveDoor;
  readonly guessing: (reader: ReaderRow) => Facts['guessing'];
  readonly usesSpent: (credential: CredentialId) => number;
  readonly holderArea: (holder: HolderId) => Facts['holderArea'];
}

export type LiveDoor = Pick<DoorFact, 'mode' | 'lock' | 'hasFirstPersonEntered' | 'escortWaiting' | 'interlockedBy'>;

export interface FactSources {
  readonly replica: ReplicaReader;
  readonly lookup: CredentialLookup;
  readonly pins: PinHasher;
  readonly live: LiveState;
}

interface Place {
  readonly reader: ReaderRow;
  readonly door: DoorRow;
}

/** What a PIN came to, before any row is read for it. */
type PinReading =
  | { readonly kind: 'none' | 'unheard' | 'queue-full' | 'malformed' }
  | { readonly kind: 'lookup'; readonly lookup: string };

/** A PIN is 4–10 digits. */
const pinPattern = /^\d{4,10}$/;
const noPin: PinReading = { kind: 'none' };
const unknown: CredentialFact = { kind: 'unknown' };
const notPresented: SecondFactorFact = { kind: 'not-presented' };
const wrong: SecondFactorFact = { kind: 'wrong' };

/** @returns the facts at once for a card, later for anything with a PIN. Throws or rejects where they cannot be had. */
export function gatherFacts(request: AccessRequest, sources: FactSources): Facts | Promise<Facts> {
  return withFacts(request, sources, (facts) => facts);
}

/**
 * Hands the facts to `use` in the moment in which they were read: nobody else's decision falls between the two, so that
 * what `use` takes (a use, a turn) is gone for whoever reads next.
 * @returns what `use` returned; otherwise as `gatherFacts`.
 */
export function withFacts<Result>(
  request: AccessRequest,
  sources: FactSources,
  use: (facts: Facts) => Result,
): Result | Promise<Result> {
  const { presented } = request;
  if (presented.kind === 'card') return use(gather(request, sources, noPin));
  return readPin(request, presented.digits, sources).then((pin) => use(gather(request, sources, pin)));
}

async function readPin(request: AccessRequest, digits: string, sources: FactSources): Promise<PinReading> {
  const { replica, live, pins, lookup } = sources;
  const place = placeOf(request, replica);
  const salt = replica.facility?.pinSalt;
  // What will be refused anyway is not worth a hash: a locked reader must not keep the others' PINs waiting.
  if (place === undefined || salt === undefined || live.journal() === 'unavailable') return { kind: 'unheard' };
  if (live.guessing(place.reader) === 'locked-out') return { kind: 'unheard' };
  if (!pinPattern.test(digits)) return { kind: 'malformed' };
  const hashed = pins.hash(digits, salt);
  return hashed === 'busy' ? { kind: 'queue-full' } : { kind: 'lookup', lookup: lookup.ofPin(await hashed) };
}

function gather(request: AccessRequest, sources: FactSources, pin: PinReading): Facts {
  const { replica, live } = sources;
  const clock = live.clock();
  const place = placeOf(request, replica);
  const { credential, secondFactor } =
    place === undefined
      ? { credential: unknown, secondFactor: notPresented }
      : readCredential(request, place, { sources, pin, clock });
  const { state } = replica;
  return {
    at: live.now(),
    clock,
    journal: live.journal(),
    door: place && doorFact(place, sources, clock),
    guessing: place === undefined ? 'open' : live.guessing(place.reader),
    pinQueue: pin.kind === 'queue-full' ? 'full' : 'free',
    credential,
    secondFactor,
    replica: {
      state: state.kind === 'live' ? 'live' : 'quarantined',
      epoch: state.kind === 'empty' ? 0 : (state.head?.epoch ?? 0),
      cursor: state.kind === 'empty' ? 0 : (state.head?.cursor ?? 0),
      contactAgeMs: live.contactAgeMs(),
    },
    holderArea: credential.kind === 'found' ? live.holderArea(credential.row.holder) : undefined,
  };
}

function placeOf({ device, head }: AccessRequest, replica: ReplicaReader): Place | undefined {
  const reader = replica.readerAt(device, head);
  const door = reader && replica.doors.get(reader.door);
  return reader && door && { reader, door };
}

interface Reading {
  readonly sources: FactSources;
  readonly pin: PinReading;
  readonly clock: ClockFact;
}

interface Presentation {
  readonly credential: CredentialFact;
  readonly secondFactor: SecondFactorFact;
}

function readCredential({ presented }: AccessRequest, place: Place, reading: Reading): Presentation {
  if (presented.kind === 'pin') return { credential: pinFact(place, reading), secondFactor: notPresented };
  const credential = cardFact(presented.card, place, reading);
  if (presented.kind === 'card') return { credential, secondFactor: notPresented };
  return judgeSecondFactor(credential, place.door.id, reading);
}

function cardFact(card: CardBits, { reader, door }: Place, reading: Reading): CredentialFact {
  const normalized = normalizeCard(card, reader.uidOrder === 'reversed' ? 'reversed' : 'as-read');
  if (normalized === undefined) return { kind: 'malformed', reason: 'length' };
  const { replica, lookup } = reading.sources;
  const found = replica.credential(lookup.ofCard(normalized), door.id);
  // A card enrolled by its bits is known whatever its format; formats only tell damaged reads from strangers.
  if (found.kind === 'unknown') {
    const decoded = decodeCard(card, formatsInUse(reader.cardFormats));
    return decoded.kind === 'malformed' ? { kind: 'malformed', reason: decoded.reason } : unknown;
  }
  return credentialFact(found, reading);
}

function pinFact({ door }: Place, reading: Reading): CredentialFact {
  const { pin, sources } = reading;
  if (pin.kind === 'malformed') return { kind: 'malformed', reason: 'pin length' };
  return pin.kind === 'lookup' ? credentialFact(sources.replica.credential(pin.lookup, door.id), reading) : unknown;
}

function judgeSecondFactor(card: CredentialFact, door: DoorId, { pin, sources }: Reading): Presentation {
  if (pin.kind !== 'lookup') return { credential: card, secondFactor: wrong };
  const found = sources.replica.credential(pin.lookup, door);
  if (found.kind === 'tampered') return { credential: card.kind === 'found' ? found : card, secondFactor: wrong };
  const isHolders = found.kind === 'found' && card.kind === 'found' && found.row.holder === card.row.holder;
  return { credential: card, secondFactor: isHolders ? rightPin(found.row) : wrong };
}

function rightPin({ id, isDuress, status, validFrom, validUntil }: CredentialRow): SecondFactorFact {
  return { kind: 'right', credential: id, isDuress, status, validFrom, validUntil };
}

function credentialFact(found: CredentialReading, { sources, clock }: Reading): CredentialFact {
  if (found.kind !== 'found') return found;
  const { replica, live } = sources;
  // Doors, readers and schedules are read whole: with one of them changed, none is believed.
  if (replica.tampered !== undefined) return { kind: 'tampered', ...replica.tampered };
  const { row, grants } = found;
  const usesSpent = row.usesMax === null ? 0 : live.usesSpent(row.id);
  return { kind: 'found', row, grants: grants.map((grant) => grantFact(grant, replica, clock)), usesSpent };
}

function grantFact(row: GrantRow, { schedules }: ReplicaReader, clock: ClockFact): GrantFact {
  return { row, windows: row.schedule === null ? 'always' : schedules.granting(row.schedule, clock.now) };
}

function doorFact({ door, reader }: Place, { replica, live }: FactSources, clock: ClockFact): DoorFact {
  const rule = (written: Rule): RuleFact =>
    typeof written === 'string' ? written : replica.schedules.restricting(written.schedule, clock.now);
  return {
    row: door,
    reader,
    ...live.door(door),
    secondFactor: rule(door.secondFactor),
    escort: rule(door.escort),
    antiPassback: door.antiPassback.mode === 'off' ? 'never' : rule(door.antiPassback.when),
    firstPerson: rule(door.firstPerson),
  };
}
