/**
 * What happens to the gateway itself (clock, disk, replica, lines), told to the journal and the alarm board.
 *
 * News from before the desk exists is kept and told when it begins, in order.
 */

import type { CanonicalValue } from '#shared/canonical.ts';
import type { AlarmCode } from '#shared/code.ts';
import type { LineId } from '#shared/identifier.ts';
import { type WallMs, wallMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';
import type { ClockEffect } from '../clock/trusted-clock-state.ts';
import type { JournalCondition } from '../journal/condition.ts';
import type { EntryDraft, StateWrite } from '../journal/entry.ts';
import type { JournalChange } from '../journal/journal-writer.ts';
import type { JournalArchive } from '../journal/open-journal.ts';
import type { ReplicaHead } from '../replica/replica-head.ts';
import type { ReplicaReader } from '../replica/replica-reader.ts';
import type { Logger } from '../system/logger.ts';
import type { StorageHealth } from '../system/storage-health.ts';
import type { AlarmSubject } from './alarm-board.ts';
import type { FrontDesk } from './front-desk.ts';
import { tellAside, tellLostJournal } from './lost-files.ts';
import type { StateMemory } from './state-memory.ts';

export interface NewsDesk {
  readonly desk: FrontDesk;
  readonly archive: JournalArchive;
  readonly replica: ReplicaReader;
}

const ofClock: AlarmSubject = { kind: 'gateway', id: 'clock' };
const ofJournal: AlarmSubject = { kind: 'gateway', id: 'journal' };
const ofStorage: AlarmSubject = { kind: 'gateway', id: 'storage' };
const ofReplica: AlarmSubject = { kind: 'gateway', id: 'replica' };
const journalAlarms = {
  full: 'STORAGE_FULL',
  budget: 'JOURNAL_FULL',
  failed: 'STORAGE_FAILED',
} as const satisfies Record<string, AlarmCode>;

export class GatewayNews {
  readonly #log: Logger;
  #early: ((open: NewsDesk) => void)[] = [];
  #open: NewsDesk | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** From now on news is told as it comes; what came before is told first. */
  begin(open: NewsDesk): void {
    this.#open = open;
    for (const tell of this.#early) tell(open);
    this.#early = [];
    open.desk.takeReplica();
    tellFound(open);
  }

  floorOf(memory: StateMemory): WallMs | undefined {
    const floor = memory.read('clock-floor', 'floor');
    return typeof floor === 'number' ? wallMs(floor) : undefined;
  }

  headOf(memory: StateMemory): ReplicaHead | undefined {
    const head = memory.read('replica-head', 'live');
    return isHead(head) ? head : undefined;
  }

  takeClock(effect: ClockEffect): void {
    this.#tell(({ desk }) => tellClock(effect, desk));
  }

  takeHead(head: ReplicaHead): void {
    this.#tell(({ desk, replica }) => {
      const write: StateWrite = { kind: 'replica-head', key: 'live', value: { ...head } };
      desk.record(entry('replica.applied', { ...head }), [write], 'urgent');
      desk.alarms.clear(ofReplica, 'REPLICA_QUARANTINED');
      desk.alarms.clear(ofReplica, 'ROW_TAMPERED');
      for (const { subject, code } of desk.alarms.list())
        if (isReplicaFile(subject.id)) desk.alarms.clear(subject, code);
      if (replica.state.kind === 'live') desk.takeReplica();
    });
  }

  takeTampered({ table, key }: { readonly table: string; readonly key: string }): void {
    this.#tell(({ desk }) => desk.alarms.raise(ofReplica, 'ROW_TAMPERED', `${table} ${key}`));
  }

  /** Of the disk under the data folder. That it is full is for the journal to say, which meets it. */
  takeStorage(state: StorageHealth['state']): void {
    this.#tell(({ desk }) => {
      const isLow = state === 'low' || state === 'full';
      if (isLow) desk.alarms.raise(ofStorage, 'STORAGE_LOW', '');
      else desk.alarms.clear(ofStorage, 'STORAGE_LOW');
      const isLost = state === 'read-only' || state === 'unreachable';
      if (isLost) desk.alarms.raise(ofStorage, 'STORAGE_FAILED', state);
      else desk.alarms.clear(ofStorage, 'STORAGE_FAILED');
    });
  }

  /** @param names of the files set aside that lie in the data folder now. */
  takeAside(names: readonly string[]): void {
    this.#tell(({ desk }) => tellAside(names, desk.alarms));
  }

  /** Nothing is granted from the replica any more. */
  takeQuarantine(reason: string): void {
    this.#tell(({ desk }) => desk.alarms.raise(ofReplica, 'REPLICA_QUARANTINED', reason));
  }

  /** A read of the replica that the disk did not answer; the next good look at the disk ends the alarm. */
  takeUnread(detail: string): void {
    this.#tell(({ desk }) => desk.alarms.raise(ofStorage, 'STORAGE_FAILED', detail));
  }

  takeDamage(file: string, findings: string): void {
    this.#tell(({ desk }) => desk.alarms.raise({ kind: 'gateway', id: file }, 'STORAGE_DAMAGED', findings));
  }

  takeLine({ line, state, detail }: { readonly line: LineId; readonly state: string; readonly detail: string }): void {
    this.#log.info({ line, state, detail }, 'line');
  }

  takeJournal(change: JournalChange): void {
    this.#tell(({ desk }) => {
      if (change.kind === 'condition') tellCondition(change.condition, desk, this.#log);
      else if (change.report.journal.kind === 'lost') tellLostJournal(change.report, desk.alarms);
    });
  }

  #tell(tell: (open: NewsDesk) => void): void {
    if (this.#open) tell(this.#open);
    else this.#early.push(tell);
  }
}

const isReplicaFile = (name: string): boolean => /^replica-\d+\.db$/.test(name);

const entry = (kind: EntryDraft['kind'], body: EntryDraft['body']) => ({ kind, door: null, requestId: null, body });

/** What was found when the files were opened. */
function tellFound({ desk, archive, replica }: NewsDesk): void {
  const { site } = archive.report;
  tellLostJournal(archive.report, desk.alarms);
  if (site.kind === 'lost')
    desk.alarms.announce(
      { kind: 'gateway', id: 'site' },
      'STORAGE_FAILED',
      `site.db was ${site.reason}: ${site.aside ?? site.detail}`,
    );
  if (replica.state.kind === 'quarantined') desk.alarms.raise(ofReplica, 'REPLICA_QUARANTINED', replica.state.reason);
  if (replica.tampered !== undefined)
    desk.alarms.raise(ofReplica, 'ROW_TAMPERED', `${replica.tampered.table} ${replica.tampered.key}`);
}

function tellCondition({ state, storage }: JournalCondition, desk: FrontDesk, log: Logger): void {
  // Closed by ourselves: there is nothing left to write to, and nothing wrong.
  if (state.kind === 'closed') return;
  log.warn({ journal: state.kind, storage }, 'journal');
  for (const [kind, code] of Object.entries(journalAlarms)) if (kind !== state.kind) desk.alarms.clear(ofJournal, code);
  if (state.kind === 'available') return;
  desk.alarms.raise(ofJournal, journalAlarms[state.kind], state.detail);
  // While it works, the journal itself says how its disk is.
  desk.record(entry('storage.changed', { storage }), [], 'shared');
}

function tellClock(effect: ClockEffect, desk: FrontDesk): void {
  switch (effect.kind) {
    case 'changed':
      desk.record(entry('clock.changed', { from: effect.from, to: effect.to, why: effect.why }), [], 'shared');
      return;
    case 'jumped':
      desk.record(
        entry('clock.changed', { to: 'jumped', what: effect.what, byMs: Math.round(effect.byMs) }),
        [],
        'shared',
      );
      return;
    case 'refused':
      desk.record(entry('clock.changed', { to: 'refused', source: effect.source, why: effect.why }), [], 'shared');
      return;
    case 'floor':
      desk.keep([{ kind: 'clock-floor', key: 'floor', value: effect.floor }]);
      return;
    case 'alarm':
      if (effect.change === 'raise') desk.alarms.raise(ofClock, effect.code, effect.why);
      else desk.alarms.clear(ofClock, effect.code);
      return;
    default:
      unreachable(effect);
  }
}

function isHead(value: CanonicalValue | undefined): value is CanonicalValue & ReplicaHead {
  if (value === undefined || value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  const { epoch, cursor, change, digest, root } = value as Readonly<
    Record<keyof ReplicaHead, CanonicalValue | undefined>
  >;
  return [epoch, cursor, change].every(Number.isSafeInteger) && typeof digest === 'string' && typeof root === 'string';
}
