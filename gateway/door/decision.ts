/**
 * The one decision object. The relay, the reader's lamp and the journal all read this value, so they cannot disagree.
 */

import type { RefusalCode } from '#shared/code.ts';
import type { CredentialId, DoorId, GrantId, HolderId, ReaderId, RequestId } from '#shared/identifier.ts';

export type GrantFlag = 'duress' | 'apb_breach' | 'lockdown_override' | 'extended_time' | 'first_in';

/** What was known when it was decided; `undefined` where the request was refused before it was read. */
interface Evidence {
  readonly requestId: RequestId;
  readonly door: DoorId | undefined;
  readonly reader: ReaderId | undefined;
  readonly credential: CredentialId | undefined;
  readonly holder: HolderId | undefined;
}

export type Decision =
  | (Evidence & {
      readonly verdict: 'granted';
      readonly code: 'GRANTED';
      readonly door: DoorId;
      readonly grant: GrantId;
      readonly flags: readonly GrantFlag[];
      /** How long the lock is to be passable, and when open becomes held. */
      readonly releaseMs: number;
      readonly heldMs: number;
    })
  | (Evidence & {
      readonly verdict: 'refused';
      readonly code: RefusalCode;
      /** The part of the rule that decided, for the explanation: a parity, a table, another door's id. Never a secret. */
      readonly detail: string | undefined;
      /** A duress credential was presented, though refused: the silent alarm is raised all the same. */
      readonly isDuress: boolean;
    });
