/** What a feed says, the same in every process: at each position exactly one set of rows. */

import type { CredentialRow } from '#shared/contract/replica-row.ts';
import type { FeedPut } from '#shared/contract/sync/feed.ts';
import { sampleCredential, sampleFacility } from './sample-facility.ts';
import { digestOfRows, put } from './signing-cloud.ts';

export const feedCredentials = 300;
export const batchesPerSnapshot = 6;

/** At position 1 000 × story a snapshot; each position after it revokes one credential. */
export function feedRows(story: number): readonly FeedPut[] {
  const { facility, schedules, doors, readers, holders, credentials, grants } = sampleFacility(feedCredentials, 4);
  return [
    put('facility', { ...facility, name: `Story ${story}`, version: story * 1_000 }),
    ...schedules.map((row) => put('schedule', row)),
    ...doors.map((row) => put('door', row)),
    ...readers.map((row) => put('reader', row)),
    ...holders.map((row) => put('holder', row)),
    ...credentials.map((row) => put('credential', row)),
    ...grants.map((row) => put('grant', row)),
  ];
}

const revokedAt = (position: number): CredentialRow => ({
  ...sampleCredential(position % feedCredentials),
  status: 'revoked',
  version: position,
});

export const revocation = (position: number): FeedPut => put('credential', revokedAt(position));

/** What a gateway that stands at `cursor` holds. */
export function digestAt(cursor: number): string {
  const story = Math.floor(cursor / 1_000);
  const revoked = new Map<string, CredentialRow>();
  for (let position = story * 1_000 + 1; position <= cursor; position += 1) {
    const row = revokedAt(position);
    revoked.set(row.id, row);
  }
  return digestOfRows(
    feedRows(story).map((each) =>
      each.kind === 'credential' && revoked.has(each.row.id)
        ? put('credential', revoked.get(each.row.id) as never)
        : each,
    ),
  );
}
