/**
 * Issues credentials, one or many, all or none.
 *
 * What a key rests on stands, a card has one owner, a PIN is one in a thousand, what is granted is there; then the rows, the
 * audit and the feed in the caller's transaction, which a refusal leaves to be rolled back.
 * Not promised: that a door knows it. `delivery` says since when it does.
 */
import { newId } from '#cloud/database/new-id.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, auditAll } from '#cloud/database/verb.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import { checkIssued } from './check-issued.ts';
import { type IssuedSecret, insertCredentials } from './insert-credentials.ts';
import type { NewCredential } from './new-credential.ts';
import type { PinHasher } from './pin-hasher.ts';
import { prepareIssue } from './prepare-issue.ts';
import { publish } from './publish.ts';
import type { PassSigner } from './sign-passes.ts';
import type { ReadShownCards } from './take-window.ts';
import type { RefusedWrite } from './written.ts';

export interface IssueDesk {
  readonly sealer: Sealer;
  readonly pins: PinHasher;
  readonly signPass: PassSigner;
  readonly shownCards: ReadShownCards;
}

export interface Issued {
  readonly id: string;
  /** Shown now; a PIN or pass. */
  readonly secret: IssuedSecret | undefined;
}

export type IssueOutcome = { readonly status: 'issued'; readonly issued: readonly Issued[] } | RefusedWrite;

export function issueCredentials(
  transaction: TenantTransaction,
  desk: IssueDesk,
  facility: string,
  items: readonly NewCredential[],
): Promise<IssueOutcome> {
  return asVerb(transaction, 'credential.issue', undefined, async () => {
    const prepared = await prepareIssue(transaction, desk, facility, items);
    if (prepared.status === 'refused') return prepared;
    const { cards, pins, holders } = prepared;
    const placed = items.map((item) => ({
      item,
      id: newId<'credential'>('crd') as string,
      card: cards.get(item),
      pin: pins.get(item),
    }));
    const secrets = await insertCredentials(transaction, desk, facility, placed);
    if ('status' in secrets) return secrets;
    const refused = await checkIssued(transaction, facility, placed);
    if (refused) return refused;
    const events = placed.map(({ id, item }) => {
      const detail = { holder: item.holder, kind: item.secret.kind, replaces: item.replaces };
      return { action: 'credential.issued', entityId: id, detail };
    });
    await auditAll(transaction, facility, events);
    await publish(transaction, facility, { facility: true, holders });
    return { status: 'issued', issued: placed.map(({ id }) => ({ id, secret: secrets.get(id) })) };
  });
}
