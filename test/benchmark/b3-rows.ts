/** A facility of any size as the feed says it. */
import type { FeedPut } from '#shared/contract/sync/feed.ts';
import { sampleFacility } from '../fakes/sample-facility.ts';
import { put } from '../fakes/signing-cloud.ts';

export function snapshotRows(count: number, doors: number): readonly FeedPut[] {
  const facility = sampleFacility(count, doors);
  return [
    put('facility', facility.facility),
    ...facility.schedules.map((row) => put('schedule', row)),
    ...facility.doors.map((row) => put('door', row)),
    ...facility.readers.map((row) => put('reader', row)),
    ...facility.holders.map((row) => put('holder', row)),
    ...facility.credentials.map((row) => put('credential', row)),
    ...facility.grants.map((row) => put('grant', row)),
  ];
}
