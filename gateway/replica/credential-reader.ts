/**
 * Reads what one decision needs of a credential: its row and its grants at one door. With every code checked,
 * and on the main thread, so in microseconds.
 *
 * Guarantee: what comes out as `found` was written by this gateway, and its buckets are the ones last applied.
 * Throws only for a fault of the disk; a decision without facts is a refusal.
 */

import type { CredentialRow, GrantRow, HolderRow } from '#shared/contract/replica-row.ts';
import type { CredentialId, DoorId, HolderId } from '#shared/identifier.ts';
import { type ColumnValue, rowText } from '#shared/replica-columns.ts';
import { bucketOfId, bucketOfLookup, type LargeKind } from '#shared/replica-digest.ts';
import type { Statement, Store } from '../store/open-database.ts';
import { credentialFrom, grantFrom, holderFrom } from './row-from-columns.ts';
import type { RowCodes } from './row-mac.ts';
import { decisionSql, rowSql } from './row-sql.ts';

export type CredentialReading =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'tampered'; readonly table: string; readonly key: string }
  | {
      readonly kind: 'found';
      readonly row: CredentialRow;
      readonly grants: readonly GrantRow[];
    };

/** Makes sure of a bucket; false = its rows are not the ones applied. */
export type EnsureBucket = (kind: LargeKind, bucket: number) => boolean;

type Tampered = Extract<CredentialReading, { kind: 'tampered' }>;
type Row = ColumnValue[];

const unknown: CredentialReading = { kind: 'unknown' };

export class CredentialReader {
  readonly #mac: RowCodes['mac'];
  readonly #ensure: EnsureBucket;
  readonly #credential: Statement<unknown[], Row>;
  readonly #grants: Statement<unknown[], Row>;
  readonly #holder: Statement<unknown[], Row>;
  readonly #byId: Statement<unknown[], Row>;

  constructor(store: Store, codes: RowCodes, ensure: EnsureBucket) {
    this.#mac = codes.mac;
    this.#ensure = ensure;
    this.#credential = store.prepare<unknown[], Row>(decisionSql.credential).raw();
    this.#grants = store.prepare<unknown[], Row>(decisionSql.grants).raw();
    this.#holder = store.prepare<unknown[], Row>(decisionSql.holder).raw();
    this.#byId = store.prepare<unknown[], Row>(rowSql.credential.find).raw();
  }

  /** For a question somebody asks about a credential they name; the row is checked when it is looked up. */
  lookupOf(credential: CredentialId): string | undefined {
    const lookup = this.#byId.get(credential)?.[0];
    return lookup === undefined ? undefined : String(lookup);
  }

  /** For showing a name; decides nothing. `undefined` where there is no such row, or it is not as it was written. */
  holderOf(id: HolderId): HolderRow | undefined {
    const bucket = bucketOfId(id);
    const columns = this.#holder.get(bucket, id);
    if (columns === undefined || !this.#ensure('holder', bucket)) return undefined;
    const mac = columns.pop();
    columns.unshift(id);
    return this.#mac(rowText('holder', columns)) === mac ? holderFrom(columns) : undefined;
  }

  /** @param lookup 64 lower-case hexadecimal digits. @param door whose grants are wanted. */
  find(lookup: string, door: DoorId): CredentialReading {
    const columns = this.#credential.get(Buffer.from(lookup, 'hex'));
    if (columns === undefined) return unknown;
    const mac = columns.pop();
    columns.unshift(lookup);
    if (this.#mac(rowText('credential', columns)) !== mac) return tampered('credential', String(columns[1]));
    if (!this.#ensure('credential', bucketOfLookup(lookup))) return tampered('credential', 'bucket');
    const row = credentialFrom(columns);
    const grants = this.#readGrants(row.id, door);
    return 'kind' in grants ? grants : { kind: 'found', row, grants };
  }

  #readGrants(credential: CredentialId, door: DoorId): readonly GrantRow[] | Tampered {
    const bucket = bucketOfId(credential);
    const grants: GrantRow[] = [];
    for (const columns of this.#grants.all(bucket, credential, door)) {
      const mac = columns.pop();
      columns.unshift(credential, door);
      if (this.#mac(rowText('grant', columns)) !== mac) return tampered('grant', `${columns[2]} ${credential}`);
      grants.push(grantFrom(columns));
    }
    return this.#ensure('grant', bucket) ? grants : tampered('grant', 'bucket');
  }
}

function tampered(table: string, key: string): Tampered {
  return { kind: 'tampered', table, key };
}
