import { expect, it } from 'vitest';
import { backlogMax, NoteBacklog } from '#gateway/journal/note-backlog.ts';
import { prepareDraft, prepareState } from '#gateway/journal/prepared-entry.ts';
import { draft } from './journal-fixture.ts';

const notes = (...numbers: readonly number[]) => ({
  drafts: numbers.map((n) => prepareDraft(draft('door.opened', `r-${n}`))),
  state: [],
});
const mode = (value: string) => ({ drafts: [], state: [prepareState({ kind: 'mode', key: 'front', value })] });
const requests = (backlog: NoteBacklog) => backlog.takeAll().drafts.map(({ requestId }) => requestId);

it('puts back what could not be written before what came since', () => {
  const backlog = new NoteBacklog();
  backlog.add(notes(1, 2));
  const taken = backlog.takeAll();
  backlog.add(notes(3));
  backlog.putBack(taken);
  expect(requests(backlog)).toEqual(['r-1', 'r-2', 'r-3']);
  expect(backlog.isEmpty).toBe(true);
});

it('drops the oldest beyond its limit, and counts them once', () => {
  const backlog = new NoteBacklog();
  for (let n = 0; n < backlogMax + 3; n += 1) backlog.add(notes(n));
  expect(requests(backlog)[0]).toBe('r-3');
  expect([backlog.takeDropped(), backlog.takeDropped()]).toEqual([3, 0]);
});

it('keeps the newest state, whatever was put back', () => {
  const backlog = new NoteBacklog();
  backlog.add(mode('free'));
  const taken = backlog.takeAll();
  backlog.add(mode('lockdown'));
  backlog.putBack(taken);
  expect(backlog.takeAll().state).toEqual([{ kind: 'mode', key: 'front', value: '"lockdown"' }]);
});
