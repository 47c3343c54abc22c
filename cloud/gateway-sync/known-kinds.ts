/**
 * What a gateway can be told: the kinds of rows it declares, in the versions this build speaks.
 *
 * Kinds it does not know are left out, and its digest is compared without them; what it must not miss stops its feed
 * instead, until it was updated.
 */
import { type FeedChange, type FeedKind, feedKinds } from '#shared/contract/sync/feed.ts';

/** A holder is only a name to show; without any of the others a door would decide wrongly. */
const critical: ReadonlySet<string> = new Set<FeedKind>([
  'facility',
  'schedule',
  'holiday',
  'door',
  'reader',
  'credential',
  'grant',
]);

/** @param declared `kind:version`, separated by commas. */
export function knownKinds(declared: string): ReadonlySet<string> {
  const said = new Set(declared.split(','));
  return new Set(
    Object.entries(feedKinds).flatMap(([kind, version]) => (said.has(`${kind}:${version}`) ? [kind] : [])),
  );
}

/** @returns a kind among the changes that the gateway does not know and must not miss. */
export function unsupportedKind(
  changes: readonly Pick<FeedChange, 'kind'>[],
  known: ReadonlySet<string>,
): string | undefined {
  return changes.find(({ kind }) => !known.has(kind) && critical.has(kind))?.kind;
}
