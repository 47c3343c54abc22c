/** A process that imports one facility after another into a folder until it is killed, and says what is in force. */
import { ReplicaKeeper } from '#gateway/replica/replica-keeper.ts';
import { testLookupKey, testRowKey } from './sample-facility.ts';

const folder = process.argv[2] ?? '';
const people = 1_500;
const keeper = new ReplicaKeeper({ folder, rowKey: testRowKey, lookupKey: testLookupKey });

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

for (let round = 1; ; round += 1) {
  const files = [{ name: 'facility.json', text: facilityNamed(`Round ${round}`) }];
  const { head } = await keeper.import({ files, isDryRun: false, epochFloor: 0 }, () => {});
  // Said only now, as the journal would: what was said must be in force whatever happens next.
  process.stdout.write(`${JSON.stringify(head)}\n`);
  keeper.forgetOthers();
}
