/** A credential that is to be issued, out of what somebody wrote, or out of the one in whose place it comes. */
import type { IssueBody, NewCard, NewGrant } from './issue-body.ts';

export type NewSecret =
  | { readonly kind: 'card'; readonly card: NewCard }
  | { readonly kind: 'pin'; readonly digits: number }
  | { readonly kind: 'pass' };

export interface NewCredential {
  /** Where it stands in the request, e.g. `/body/items/3`. */
  readonly at: string;
  readonly holder: string;
  readonly secret: NewSecret;
  readonly terms: Terms;
  readonly grants: readonly NewGrant[];
  /** The credential in whose place it comes. */
  readonly replaces: string | null;
}

export type Terms = Pick<
  IssueBody,
  | 'validFrom'
  | 'validUntil'
  | 'leaseMs'
  | 'usesMax'
  | 'isDuress'
  | 'overridesLockdown'
  | 'needsExtendedTime'
  | 'isFirstPerson'
>;

export function newCredentialOf(body: IssueBody, at: string): NewCredential {
  const { holder, card, pin, pass: _pass, grants, ...terms } = body;
  return { at, holder, secret: secretOf(card, pin), terms, grants, replaces: null };
}

function secretOf(card: IssueBody['card'], pin: IssueBody['pin']): NewSecret {
  if (card !== undefined) return { kind: 'card', card };
  return pin === undefined ? { kind: 'pass' } : { kind: 'pin', digits: pin.digits };
}
