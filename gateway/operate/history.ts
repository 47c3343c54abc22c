/** Entries as people meet them, and the stream of what happens now. */

import type { DoorId } from '#shared/identifier.ts';
import { identifier } from '#shared/identifier.ts';
import type { CallContext } from '../control/door-side.ts';
import type { EntryView } from '../control/entry-view.ts';
import type { Arguments } from '../control/messages.ts';
import type { FollowItem } from '../control/replies.ts';
import type { Entry } from '../journal/entry.ts';
import { StoreFault } from '../store/store-fault.ts';
import type { DoorProcess } from './door-process.ts';
import { doorStatus } from './status.ts';

function viewOf(entry: Entry, { replica }: Pick<DoorProcess, 'replica'>): EntryView {
  const { holder, reader, door } = entry.body;
  const doorId = entry.door ?? (typeof door === 'string' ? identifier<'door'>(door) : undefined);
  const names = {
    door: doorId === undefined ? undefined : replica.doors.get(doorId)?.name,
    holder: typeof holder === 'string' ? replica.holderOf(identifier<'holder'>(holder))?.name : undefined,
    reader: typeof reader === 'string' ? replica.readers.find(({ id }) => id === reader)?.name : undefined,
  };
  return { entry, names };
}

export async function readEvents(call: Arguments<'events'>, process: DoorProcess): Promise<readonly EntryView[]> {
  const entries =
    'newest' in call
      ? await process.journal.read(call)
      : await process.journal.read({ afterSeq: call.after, limit: call.limit });
  return entries.map((entry) => viewOf(entry, process));
}

/** Doors that changed, told to whoever follows. */
export class DoorBroadcast {
  readonly #listeners = new Set<(door: DoorId) => void>();

  tell(door: DoorId): void {
    for (const listener of this.#listeners) listener(door);
  }

  listen(listener: (door: DoorId) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Streams until the caller goes away: first the newest entries and every door, then what changes. */
export async function followEvents(
  call: Arguments<'follow'>,
  context: CallContext,
  { process, broadcast }: { readonly process: DoorProcess; readonly broadcast: DoorBroadcast },
): Promise<void> {
  const emit = (item: FollowItem) => context.emit(item);
  const seen = { seq: 0, epoch: 0 };
  const pass = (entry: Entry) => {
    const isNew = entry.epoch > seen.epoch || (entry.epoch === seen.epoch && entry.seq > seen.seq);
    if (!isNew) return;
    Object.assign(seen, { seq: entry.seq, epoch: entry.epoch });
    emit({ kind: 'entry', view: viewOf(entry, process) });
  };
  const early: Entry[] = [];
  let isReady = false;
  const stopEntries = process.journal.follow((entries) => {
    if (isReady) for (const entry of entries) pass(entry);
    else early.push(...entries);
  });
  const showDoor = (door: DoorId) => {
    const shell = process.doors.find(door);
    if (shell) emit({ kind: 'door', door: doorStatus(shell, process) });
  };
  const stopDoors = broadcast.listen(showDoor);
  try {
    const past = call.newest > 0 ? await readPast(call.newest, process) : [];
    for (const entry of [...past, ...early]) pass(entry);
    isReady = true;
    for (const shell of process.doors.shells) showDoor(shell.state.row.id);
    await ended(context.signal);
  } finally {
    stopEntries();
    stopDoors();
  }
}

/** A disk that cannot be read now has no past to show; what happens is followed all the same. */
async function readPast(newest: number, { journal }: DoorProcess): Promise<readonly Entry[]> {
  try {
    return await journal.read({ newest });
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    return [];
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
}
