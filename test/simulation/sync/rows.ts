/** Few kinds of rows, as many as there are ways to go wrong: one of many rows, one that hangs on another, one that is only named. */
import { credentialRow, grantRow } from '#shared/contract/replica-row.ts';
import type { FeedChange, FeedPut } from '#shared/contract/sync/feed.ts';
import { identifier } from '#shared/identifier.ts';
import { plainHashOf, type RowOf } from '#shared/replica-columns.ts';
import { bucketOfId, bucketOfLookup, type RowKind } from '#shared/replica-digest.ts';

export type Kind = 'holder' | 'credential' | 'grant';
export const kinds: readonly Kind[] = ['holder', 'credential', 'grant'];

export type Status = 'issued' | 'suspended' | 'revoked';

/** A change without its place: what business says, before it is numbered. */
export type Draft =
  | { readonly op: 'put'; readonly kind: 'holder'; readonly key: string; readonly name: string }
  | {
      readonly op: 'put';
      readonly kind: 'credential';
      readonly key: string;
      readonly holder: string;
      readonly card: number;
      readonly status: Status;
      readonly leaseMs: number | 'unlimited';
    }
  | { readonly op: 'put'; readonly kind: 'grant'; readonly key: string }
  | { readonly op: 'remove'; readonly kind: Kind; readonly key: string };

export const nameOf = (of: { readonly kind: string; readonly key: string }): string => `${of.kind} ${of.key}`;
export const grantKey = (credential: string, door: string): string => `${credential} ${door} g-${credential}`;
export const doorOfGrant = (key: string): string => key.split(' ')[1] ?? '';
export const credentialOfGrant = (key: string): string => key.split(' ')[0] ?? '';
/** Spread over the buckets. */
export const lookupOf = (card: number): string => (card * 37).toString(16).padStart(3, '0').padEnd(64, 'e');

const credentialBase = credentialRow.parse({
  id: 'c',
  holder: 'h',
  kind: 'card',
  lookup: lookupOf(1),
  status: 'issued',
  leaseMs: 'unlimited',
  version: 1,
});
const grantBase = grantRow.parse({ grant: 'g', credential: 'c', door: 'd', version: 1 });

/** @param version the place in the feed. */
export function changeOf(draft: Draft, version: number): FeedChange {
  if (draft.op === 'remove') {
    if (draft.kind !== 'grant') return { op: 'remove', kind: draft.kind, id: identifier(draft.key), version };
    return { op: 'remove', kind: 'grant', ...grantIds(draft.key), version };
  }
  switch (draft.kind) {
    case 'holder':
      return { op: 'put', kind: 'holder', row: { id: identifier(draft.key), name: draft.name, version } };
    case 'credential': {
      const { status, leaseMs, card } = draft;
      const ids = { id: identifier<'credential'>(draft.key), holder: identifier<'holder'>(draft.holder) };
      const row = { ...credentialBase, ...ids, lookup: lookupOf(card), status, leaseMs, version };
      return { op: 'put', kind: 'credential', row };
    }
    case 'grant':
      return { op: 'put', kind: 'grant', row: { ...grantBase, ...grantIds(draft.key), version } };
  }
}

function grantIds(key: string) {
  const [credential, door, grant] = key.split(' ');
  return {
    credential: identifier<'credential'>(credential ?? ''),
    door: identifier<'door'>(door ?? ''),
    grant: identifier<'grant'>(grant ?? ''),
  };
}

export function bucketOfPut(put: FeedPut): number {
  if (put.kind === 'credential') return bucketOfLookup(put.row.lookup);
  if (put.kind === 'grant') return bucketOfId(put.row.credential);
  return put.kind === 'holder' ? bucketOfId(put.row.id) : 0;
}

export function hashOfPut(put: FeedPut): string {
  return (plainHashOf as (kind: RowKind, row: RowOf[RowKind]) => string)(put.kind, put.row as RowOf[RowKind]);
}

/** A row as it is held, on either side. */
export interface Held {
  readonly version: number;
  readonly hash: string;
  readonly put: FeedPut;
}
export const heldOf = (put: FeedPut): Held => ({ version: put.row.version, hash: hashOfPut(put), put });
