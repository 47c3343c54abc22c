import { expect, test } from 'vitest';
import { AlarmBoard } from '#gateway/access/alarm-board.ts';
import { GrantBook } from '#gateway/access/grant-book.ts';
import { readerRow } from '#shared/contract/replica-row.ts';
import { identifier } from '#shared/identifier.ts';

const reader = readerRow.parse({ id: 'r', name: 'R', door: 'd', device: 'x', version: 1 });
const grant = { holder: identifier<'holder'>('h'), reader, isFirstPerson: false, spent: undefined };
const request = (index: number) => identifier<'request'>(`request-${index}`);

test('grants that nobody walks through are forgotten, the oldest first', () => {
  const book = new GrantBook();
  for (let index = 0; index < 1_000; index += 1) book.enter(request(index), grant);
  expect(book.find(request(0))).toBeUndefined();
  expect(book.find(request(999))).toBe(grant);
  const kept = Array.from({ length: 1_000 }, (_, index) => book.find(request(index))).filter(
    (each) => each !== undefined,
  );
  expect(kept).toHaveLength(512);
});

test('an alarm is raised once, cleared once, and told from the same alarm of another', () => {
  const told: string[] = [];
  const board = new AlarmBoard(({ kind, body }, haste) => told.push(`${kind} ${body['device']} ${haste}`));
  const device = (id: string) => ({ kind: 'device', id }) as const;
  for (let times = 0; times < 3; times += 1) board.raise(device('a'), 'DEVICE_TAMPERED', '');
  board.raise(device('b'), 'DEVICE_TAMPERED', '');
  board.clear(device('a'), 'DEVICE_POWER_FAILED');
  for (let times = 0; times < 3; times += 1) board.clear(device('a'), 'DEVICE_TAMPERED');
  expect(told).toEqual(['alarm.raised a urgent', 'alarm.raised b urgent', 'alarm.cleared a shared']);
  expect(board.list()).toEqual([{ subject: device('b'), code: 'DEVICE_TAMPERED', detail: '' }]);
});
