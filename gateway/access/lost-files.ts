/**
 * What was lost stands as an alarm: a file set aside, until somebody takes it out of the folder, and a history that begins
 * anew without one.
 */
import { basename } from 'node:path';
import type { AlarmCode } from '#shared/code.ts';
import type { StoresReport } from '../journal/open-stores.ts';
import type { AlarmBoard, AlarmSubject } from './alarm-board.ts';

const ofJournal: AlarmSubject = { kind: 'gateway', id: 'journal' };
const asideDetail = 'set aside in the data folder; looked at and kept elsewhere, it may be taken out';

/** @param names of the files set aside that lie in the data folder now. */
export function tellAside(names: readonly string[], alarms: AlarmBoard): void {
  for (const { subject, code, detail } of alarms.list())
    if (detail === asideDetail && !names.includes(subject.id)) alarms.clear(subject, code);
  for (const name of names) alarms.raise({ kind: 'gateway', id: name }, codeOf(name), asideDetail);
}

/** A journal whose former file is nowhere: nothing that could be taken out ends this alarm but time, with the entry. */
export function tellLostJournal({ journal, beginsAnew }: StoresReport, alarms: AlarmBoard): void {
  if (journal.kind === 'lost' && journal.aside !== null) {
    alarms.raise({ kind: 'gateway', id: basename(journal.aside) }, 'JOURNAL_DAMAGED', asideDetail);
    return;
  }
  if (journal.kind !== 'lost' && beginsAnew?.isFormerGone !== true) return;
  const epoch = beginsAnew === undefined ? '' : ` at epoch ${beginsAnew.epoch}`;
  alarms.raise(ofJournal, 'JOURNAL_DAMAGED', `the history begins anew${epoch}; the file before it is gone`);
}

const codeOf = (name: string): AlarmCode => (name.startsWith('journal.db') ? 'JOURNAL_DAMAGED' : 'STORAGE_DAMAGED');
