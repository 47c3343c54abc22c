/**
 * Grants under way: who a request was granted to, until the door says that they are through, or that nothing moved.
 *
 * Bounded: the oldest is forgotten first; what is forgotten moves nobody's area and returns no use.
 */
import type { ReaderRow } from '#shared/contract/replica-row.ts';
import type { CredentialId, HolderId, RequestId } from '#shared/identifier.ts';

export interface BookedGrant {
  readonly holder: HolderId;
  readonly reader: ReaderRow;
  readonly isFirstPerson: boolean;
  /** The credential whose use was spent on it; `undefined` for one without a limit. */
  readonly spent: CredentialId | undefined;
}

const grantsMax = 512;

export class GrantBook {
  readonly #grants = new Map<RequestId, BookedGrant>();

  enter(request: RequestId, grant: BookedGrant): void {
    this.#grants.set(request, grant);
    if (this.#grants.size <= grantsMax) return;
    for (const oldest of this.#grants.keys()) {
      this.#grants.delete(oldest);
      return;
    }
  }

  find(request: RequestId): BookedGrant | undefined {
    return this.#grants.get(request);
  }

  forget(request: RequestId): void {
    this.#grants.delete(request);
  }
}
