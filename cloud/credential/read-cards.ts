/** The bits of the cards that are to be issued: as somebody wrote them, or as a reader read them in an enrolment window. */
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { readWrittenCard } from '#protocol/wiegand/written-card.ts';
import type { CredentialLookup } from '#shared/credential-lookup.ts';
import type { NewCredential } from './new-credential.ts';
import { type ReadShownCards, takeWindow } from './take-window.ts';
import { type RefusedWrite, refusedAt } from './written.ts';

export interface CardValue {
  /** As `normalizeCard` gives it: the bit count, then the bits. */
  readonly normalized: Uint8Array;
  readonly lookup: string;
}

export const bitCountOf = (normalized: Uint8Array): number => ((normalized[0] ?? 0) << 8) | (normalized[1] ?? 0);

/** @returns the value of each card, or what is wrong with the first that cannot be read. */
export async function readCards(
  transaction: TenantTransaction,
  {
    facility,
    shown,
    lookup,
  }: { readonly facility: string; readonly shown: ReadShownCards; readonly lookup: CredentialLookup },
  items: readonly NewCredential[],
): Promise<ReadonlyMap<NewCredential, CardValue> | RefusedWrite> {
  const values = new Map<NewCredential, CardValue>();
  const used = new Set<string>();
  for (const item of items) {
    if (item.secret.kind !== 'card') continue;
    const { card } = item.secret;
    const read =
      'window' in card
        ? await takeWindow(transaction, shown, { facility, id: card.window, at: item.at })
        : readWrittenCard(card);
    if ('status' in read) return read;
    if (read.kind === 'wrong') {
      return refusedAt('CARD_UNREADABLE', `${item.at}/${read.field.replaceAll('.', '/')}`, 'field.invalid');
    }
    const value = { normalized: read.normalized, lookup: lookup.ofCard(read.normalized) };
    if (used.has(value.lookup)) return refusedAt('CARD_TAKEN', `${item.at}/card`, 'field.twice');
    used.add(value.lookup);
    values.set(item, value);
  }
  return values;
}
