/**
 * Draws the PINs that are to be issued, and hashes them: each once in its facility, none a slip away from a duress PIN.
 *
 * The slow hash is computed before anything is locked; only a PIN that turns out to be taken is drawn again under the lock.
 */
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import { choosePin } from './choose-pin.ts';
import type { FacilityKeys } from './facility-keys.ts';
import type { NewCredential } from './new-credential.ts';
import type { PinHasher } from './pin-hasher.ts';
import { isOneSlipAway } from './pin-policy.ts';
import type { RefusedWrite } from './written.ts';

export interface PinValue {
  readonly pin: string;
  readonly lookup: string;
}

export interface PinDesk {
  readonly facility: string;
  readonly keys: FacilityKeys;
  readonly sealer: Sealer;
  readonly pins: PinHasher;
}

/** At one PIN in a thousand, so many taken in a row do not happen. */
const drawsMax = 10;

type DrawnPins = Map<NewCredential, PinValue>;

/** Before the lock. @returns PINs that may turn out to be taken, or that there is no room to hash them now. */
export async function drawPins(desk: PinDesk, items: readonly NewCredential[]): Promise<DrawnPins | RefusedWrite> {
  const drawn = await Promise.all(
    items.map(async (item) => {
      if (item.secret.kind !== 'pin') return undefined;
      return [item, await hashed(desk, item.secret.digits)] as const;
    }),
  );
  const values: DrawnPins = new Map();
  for (const pair of drawn) {
    if (pair === undefined) continue;
    const [item, value] = pair;
    if (value === undefined) return { status: 'refused', code: 'PIN_BUSY' };
    values.set(item, value);
  }
  return values;
}

async function hashed({ keys, pins }: PinDesk, digits: number): Promise<PinValue | undefined> {
  const pin = choosePin(digits, (below) => randomInt(below));
  const slow = await pins.hash(pin, keys.pinSalt);
  return slow === undefined ? undefined : { pin, lookup: keys.lookup.ofPin(slow) };
}

/** Under `lockPins`: PINs that are taken, or too like another, are drawn again. */
export async function settlePins(
  transaction: TenantTransaction,
  desk: PinDesk,
  drawn: DrawnPins,
): Promise<ReadonlyMap<NewCredential, PinValue> | RefusedWrite> {
  if (drawn.size === 0) return drawn;
  const known = await readKnownPins(transaction, desk, [...drawn.keys()]);
  const remembered = await readRemembered(transaction, desk, [...drawn.values()]);
  for (const [item, first] of drawn) {
    const { isDuress } = item.terms;
    let value = first;
    let isFree = !isTaken(known, first.pin, isDuress) && !remembered.has(first.lookup);
    for (let attempt = 0; !isFree; attempt += 1) {
      if (attempt === drawsMax) return { status: 'refused', code: 'PIN_SPACE_EXHAUSTED' };
      const next = await hashed(desk, first.pin.length);
      if (next === undefined) return { status: 'refused', code: 'PIN_BUSY' };
      value = next;
      const again = await readRemembered(transaction, desk, [value]);
      isFree = !isTaken(known, value.pin, isDuress) && again.size === 0;
    }
    known.push({ pin: value.pin, isDuress });
    drawn.set(item, value);
  }
  return drawn;
}

interface KnownPin {
  readonly pin: string;
  readonly isDuress: boolean;
}

const isTaken = (known: readonly KnownPin[], pin: string, isDuress: boolean): boolean =>
  known.some((other) => other.pin === pin || ((isDuress || other.isDuress) && isOneSlipAway(other.pin, pin)));

export const credentialValueName = (id: string): string => `credential ${id}`;

/** The PINs in force that have as many digits as one of the new ones. */
async function readKnownPins(
  transaction: TenantTransaction,
  { facility, sealer }: PinDesk,
  items: readonly NewCredential[],
): Promise<KnownPin[]> {
  const digits = items.map(({ secret }) => (secret.kind === 'pin' ? secret.digits : 0));
  const found = await sql<{ id: string; value_sealed: Buffer; is_duress: boolean }>`
    select id, value_sealed, is_duress from credential
    where facility_id = ${facility} and kind = 'pin' and status in ('issued', 'suspended')
      and pin_digits = any (${[...new Set(digits)]}::smallint[])`.execute(transaction);
  return found.rows.map(({ id, value_sealed, is_duress }) => ({
    pin: sealer.open(credentialValueName(id), value_sealed).toString('utf8'),
    isDuress: is_duress,
  }));
}

/** Lookups that a credential has, one that ended too: nobody gets what opened for somebody else a while ago. */
async function readRemembered(
  transaction: TenantTransaction,
  { facility }: PinDesk,
  values: readonly PinValue[],
): Promise<ReadonlySet<string>> {
  const found = await sql<{ lookup: string }>`select lookup from credential
    where facility_id = ${facility} and lookup = any (${values.map(({ lookup }) => lookup)})`.execute(transaction);
  return new Set(found.rows.map(({ lookup }) => lookup));
}
