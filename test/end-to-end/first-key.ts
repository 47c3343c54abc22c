/** The first public key of a journal, as an auditor would keep it from the enrolment. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStores } from '#gateway/journal/open-stores.ts';

/** While no gateway runs there. */
export function readFirstKey(directory: string): Uint8Array {
  const masterKey = new Uint8Array(readFileSync(join(directory, 'master.key')));
  const stores = openStores({ directory, masterKey, bootId: 'test' }, Date.now());
  stores.journal.close();
  stores.site.close();
  return stores.report.firstKey;
}
