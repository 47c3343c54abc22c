/**
 * Everything that was read to decide one request, gathered before the decision and never during it.
 *
 * A fact that could not be read is a value here (`unknown`, `tampered`, `unavailable`), not an exception:
 * the decision names it. Enough of these go into the journal to explain the decision later without look-ups.
 */
import type { CredentialRow, DoorRow, GrantRow, ReaderRow } from '#shared/contract/replica-row.ts';
import type { CredentialId, DoorId, HolderId } from '#shared/identifier.ts';
import type { MonoMs, WallMs, WallWindow } from '#shared/instant.ts';

export type ClockState = 'trusted' | 'holdover' | 'untrusted';

export interface ClockFact {
  readonly state: ClockState;
  /** Anchored time; `undefined` while untrusted. */
  readonly now: WallMs | undefined;
  /** Half-width of the uncertainty of `now`, ms. */
  readonly errorMs: number;
}

/** A rule of the door, with its schedule compiled to restricting windows (never narrower than written). */
export type RuleFact = 'never' | 'always' | { readonly windows: readonly WallWindow[] };

export interface GrantFact {
  readonly row: GrantRow;
  /** Granting windows (never wider than written), ascending; `always` where the grant names no schedule. */
  readonly windows: 'always' | readonly WallWindow[];
}

export type CredentialFact =
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'unknown' }
  /** A row read on the way does not verify: which table, which key. */
  | { readonly kind: 'tampered'; readonly table: string; readonly key: string }
  | {
      readonly kind: 'found';
      readonly row: CredentialRow;
      /** Grants of this credential at this door; often one. */
      readonly grants: readonly GrantFact[];
      readonly usesSpent: number;
    };

export type SecondFactorFact =
  | { readonly kind: 'not-presented' }
  | { readonly kind: 'wrong' }
  /** It is a PIN of the card's holder; whether that PIN may be used now is for the decision to say. */
  | {
      readonly kind: 'right';
      readonly credential: CredentialId;
      readonly isDuress: boolean;
      readonly status: CredentialRow['status'];
      readonly validFrom: WallMs | null;
      readonly validUntil: WallMs | null;
    };

export interface DoorFact {
  readonly row: DoorRow;
  readonly reader: ReaderRow;
  readonly mode: 'controlled' | 'free' | 'lockdown' | 'fire';
  /** Whether a command would reach the lock now. */
  readonly lock: 'ready' | 'unreachable' | 'faulted';
  readonly secondFactor: RuleFact;
  readonly escort: RuleFact;
  readonly antiPassback: RuleFact;
  readonly firstPerson: RuleFact;
  /** Whether somebody marked first-person has entered since the facility's midnight. */
  readonly hasFirstPersonEntered: boolean;
  /** The holder whose otherwise granted request waits for a second one, if it is younger than 15 s. */
  readonly escortWaiting: HolderId | undefined;
  /** A door of the same interlock group that is not secured. */
  readonly interlockedBy: DoorId | undefined;
}

export interface Facts {
  /** Monotonic time of the decision. */
  readonly at: MonoMs;
  readonly clock: ClockFact;
  readonly journal: 'available' | 'unavailable';
  /** `undefined`: the reader is bound to no door. */
  readonly door: DoorFact | undefined;
  /** State of the guess limiter of this reader, for requests that carry a PIN. */
  readonly guessing: 'open' | 'locked-out';
  readonly pinQueue: 'free' | 'full';
  readonly credential: CredentialFact;
  readonly secondFactor: SecondFactorFact;
  readonly replica: {
    readonly state: 'live' | 'quarantined';
    readonly epoch: number;
    readonly cursor: number;
    /** Since verified contact with the cloud; `unknown` counts as exceeded. */
    readonly contactAgeMs: number | 'unknown';
  };
  /** Where anti-passback believes the holder to be; `undefined` = not known, which breaks no rule. */
  readonly holderArea: { readonly area: string | null } | undefined;
}
