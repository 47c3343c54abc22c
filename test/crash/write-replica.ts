/**
 * A replica under change, as a process of its own: imports into new epochs, batches into the live one, logs carried over.
 *
 * Whatever is in force is then written, unsynced, to `acknowledged` in the same folder, as `write-journal.ts` does.
 * Arguments: folder, number of rounds.
 */
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplicaHead } from '#gateway/replica/replica-head.ts';
import { ReplicaKeeper } from '#gateway/replica/replica-keeper.ts';
import { identifier } from '#shared/identifier.ts';
import { testLookupKey, testRowKey } from '../fakes/sample-facility.ts';

const folder = process.argv[2] ?? '';
const rounds = Number(process.argv[3]);
const people = 120;
const keeper = new ReplicaKeeper({ folder, rowKey: testRowKey, lookupKey: testLookupKey });
const acknowledged = openSync(join(folder, 'acknowledged'), 'a');
const acknowledge = (head: ReplicaHead | undefined): void => {
  writeSync(acknowledged, `${JSON.stringify(head)}\n`);
};

function facilityNamed(name: string): string {
  const numbers = Array.from({ length: people }, (_, index) => index);
  return JSON.stringify({
    facility: { id: 'site', name, zone: 'Asia/Tokyo' },
    doors: [{ id: 'front', name: 'Front', lock: { device: 'io', output: 0 } }],
    readers: [{ id: 'front-out', name: 'Front, outside', door: 'front', device: 'reader' }],
    holders: numbers.map((number) => ({ id: `h${number}`, name: `${name} ${number}` })),
    credentials: numbers.map((number) => ({
      id: `c${number}`,
      holder: `h${number}`,
      card: { format: 'H10304', facility: 7, number },
    })),
    grants: [{ id: 'all', credentials: numbers.map((number) => `c${number}`), doors: ['front'] }],
  });
}

let cursor = 0;
for (let round = 1; round <= rounds; round += 1) {
  if (round % 12 === 1) {
    cursor = 0;
    const files = [{ name: 'facility.json', text: facilityNamed(`Round ${round}`) }];
    const { head } = await keeper.import({ files, isDryRun: false, epochFloor: 0 }, () => {});
    acknowledge(head);
    keeper.forgetOthers();
    continue;
  }
  cursor += 1;
  const changes = Array.from({ length: 40 }, (_, index) => ({
    op: 'upsert' as const,
    upsert: {
      kind: 'holder' as const,
      row: { id: identifier<'holder'>(`h${index}`), name: `Changed in ${round}`, version: round + 1 },
    },
  }));
  const outcome = keeper.apply({ changes, cursor });
  if (outcome.status === 'applied') acknowledge(outcome.head);
  if (round % 5 === 0) keeper.settle();
}
process.kill(process.pid, 'SIGKILL');
