/** All that must stand before credentials are written: values that can be read and are free, references, grounds. */
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import { wallMs } from '#shared/instant.ts';
import { deriveKey } from './derive-key.ts';
import { drawPins, type PinValue, settlePins } from './draw-pins.ts';
import { readFacilityKeys } from './facility-keys.ts';
import { freeCards, ownersOf } from './free-cards.ts';
import { readHolderFacts } from './key-facts.ts';
import { lockHolders, lockPins, lockReferences } from './lock-rows.ts';
import type { NewCredential } from './new-credential.ts';
import type { PinHasher } from './pin-hasher.ts';
import { type CardValue, readCards } from './read-cards.ts';
import type { ReadShownCards } from './take-window.ts';
import type { Reference } from './thing.ts';
import { type RefusedWrite, refusedAt } from './written.ts';

export interface Prepared {
  readonly status: 'prepared';
  readonly cards: ReadonlyMap<NewCredential, CardValue>;
  readonly pins: ReadonlyMap<NewCredential, PinValue>;
  /** Whose keys change: the new ones' holders, and those whose cards were let go. All locked. */
  readonly holders: readonly string[];
}

interface Desk {
  readonly sealer: Sealer;
  readonly pins: PinHasher;
  readonly shownCards: ReadShownCards;
}

/** Waits for the slow hashes first, and locks only then. */
export async function prepareIssue(
  transaction: TenantTransaction,
  desk: Desk,
  facility: string,
  items: readonly NewCredential[],
): Promise<Prepared | RefusedWrite> {
  const keys = await readFacilityKeys(transaction, desk.sealer, facility);
  const pinDesk = { facility, keys, ...desk };
  const drawn = await drawPins(pinDesk, items);
  if ('status' in drawn) return drawn;
  const cards = await readCards(transaction, { facility, shown: desk.shownCards, lookup: keys.lookup }, items);
  if ('status' in cards) return cards;
  const ground = await lockGround(transaction, facility, { items, cards, hasPins: drawn.size > 0 });
  if ('status' in ground) return ground;
  const pins = await settlePins(transaction, pinDesk, drawn);
  return 'status' in pins ? pins : { status: 'prepared', cards, pins, holders: ground.holders };
}

interface Ground {
  readonly items: readonly NewCredential[];
  readonly cards: ReadonlyMap<NewCredential, CardValue>;
  readonly hasPins: boolean;
}

async function lockGround(
  transaction: TenantTransaction,
  facility: string,
  { items, cards, hasPins }: Ground,
): Promise<{ readonly holders: readonly string[] } | RefusedWrite> {
  const missing = await lockReferences(transaction, facility, items.flatMap(referencesOf));
  if (missing) return refusedAt('REFERENCE_UNKNOWN', missing.path, 'field.reference_unknown');
  if (hasPins) await lockPins(transaction, facility);
  const owners = await ownersOf(transaction, facility, cards.values());
  const wanted = [...items, ...owners].map(({ holder }) => holder);
  const holders = await lockHolders(transaction, facility, wanted);
  const refused =
    (await refuseBaseless(transaction, facility, items)) ?? (await freeCards(transaction, facility, cards));
  return refused ?? { holders };
}

/** What the grants of a new credential name. */
export function referencesOf({ grants, at }: Pick<NewCredential, 'grants' | 'at'>): readonly Reference[] {
  return grants.flatMap(({ door, group, schedule }, index): readonly Reference[] => {
    const path = `${at}/grants/${index}`;
    return [
      ...(door === undefined ? [] : [{ path: `${path}/door`, table: 'door', id: door } as const]),
      ...(group === undefined ? [] : [{ path: `${path}/group`, table: 'door_group', id: group } as const]),
      ...(schedule === null ? [] : [{ path: `${path}/schedule`, table: 'schedule', id: schedule } as const]),
    ];
  });
}

async function refuseBaseless(
  transaction: TenantTransaction,
  facility: string,
  items: readonly NewCredential[],
): Promise<RefusedWrite | undefined> {
  const holders = [...new Set(items.map(({ holder }) => holder))];
  const factsOf = await readHolderFacts(transaction, facility, holders);
  for (const { holder, terms, at } of items) {
    const facts = factsOf(holder);
    if (facts.holder === 'absent') {
      return refusedAt('REFERENCE_UNKNOWN', `${at}/holder`, 'field.reference_unknown');
    }
    const validUntil = terms.validUntil === null ? null : wallMs(terms.validUntil.getTime());
    const key = deriveKey({ ...facts, validUntil });
    if (key.mayExist) continue;
    const field = key.code === 'CREDENTIAL_EXPIRED' ? 'validUntil' : 'holder';
    return refusedAt(key.code, `${at}/${field}`, 'field.invalid');
  }
  return undefined;
}
