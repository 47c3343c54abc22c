/** What follows when somebody is through, or when nothing moved after all: areas, the first person, a use given back. */
import type { RequestId } from '#shared/identifier.ts';
import { areaAfter } from '../door/anti-passback.ts';
import type { StateWrite } from '../journal/entry.ts';
import type { Stamp } from './access-entries.ts';
import type { GrantBook } from './grant-book.ts';
import type { StateMemory } from './state-memory.ts';

export interface PassagePorts {
  readonly grants: GrantBook;
  readonly memory: StateMemory;
  readonly stamp: () => Stamp;
  readonly write: (state: readonly StateWrite[]) => void;
}

export function passThrough(request: RequestId, { grants, memory, stamp, write }: PassagePorts): void {
  const grant = grants.find(request);
  if (!grant) return;
  grants.forget(request);
  const writes: StateWrite[] = [];
  const { at, clockState } = stamp();
  const area = areaAfter(grant.reader);
  if (area) writes.push(memory.write('area', grant.holder, { area: area.area }));
  if (grant.isFirstPerson && clockState !== 'untrusted')
    writes.push(memory.write('first-person', grant.reader.door, at));
  if (writes.length > 0) write(writes);
}

/** A use is given back only for what certainly did not happen. */
export function giveBack(request: RequestId, { grants, memory, write }: PassagePorts): void {
  const grant = grants.find(request);
  grants.forget(request);
  if (grant?.spent === undefined) return;
  const spent = memory.read('uses', grant.spent);
  write([memory.write('uses', grant.spent, typeof spent === 'number' && spent > 1 ? spent - 1 : null)]);
}
