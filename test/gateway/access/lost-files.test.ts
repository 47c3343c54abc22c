import { expect, test } from 'vitest';
import { AlarmBoard } from '#gateway/access/alarm-board.ts';
import { tellAside, tellLostJournal } from '#gateway/access/lost-files.ts';
import type { StoresReport } from '#gateway/journal/open-stores.ts';

const report: StoresReport = {
  journal: { kind: 'opened' },
  site: { kind: 'opened' },
  epoch: 2,
  firstKey: new Uint8Array(32),
  beginsAnew: { epoch: 2, isFormerGone: false },
};
const standing = (board: AlarmBoard) => board.list().map(({ subject, code }) => `${subject.id} ${code}`);

test('a file set aside stands as an alarm under its own name until it is taken out', () => {
  const told: string[] = [];
  const board = new AlarmBoard(({ kind }) => told.push(kind));
  const names = ['journal.db.damaged-2026', 'replica-3.db.damaged-2026'];
  tellAside(names, board);
  tellAside(names, board);
  tellLostJournal(report, board);
  expect(standing(board)).toEqual([
    'journal.db.damaged-2026 JOURNAL_DAMAGED',
    'replica-3.db.damaged-2026 STORAGE_DAMAGED',
  ]);
  tellAside(names.slice(1), board);
  expect(standing(board)).toEqual(['replica-3.db.damaged-2026 STORAGE_DAMAGED']);
  expect(told).toEqual(['alarm.raised', 'alarm.raised', 'alarm.cleared']);
});

test('a history that begins anew stands as an alarm where what was before it is nowhere', () => {
  const board = new AlarmBoard(() => {});
  tellLostJournal({ ...report, beginsAnew: { epoch: 2, isFormerGone: true } }, board);
  tellAside([], board);
  expect(board.list()).toMatchObject([{ code: 'JOURNAL_DAMAGED', detail: expect.stringContaining('epoch 2') }]);
});
