import { describe, expect, it } from 'vitest';
import { applied, isAhead, judgeBatch, judgeRepair, judgeUrgent } from '#gateway/replica/follow-feed.ts';
import { judgeChunk, judgeWhole, withoutSnapshot } from '#gateway/replica/follow-snapshot.ts';
import { type FollowState, followFrom } from '#gateway/replica/follow-state.ts';
import { credentialRow } from '#shared/contract/replica-row.ts';
import { type FeedBatch, type FeedPut, feedBatchStatement, type SnapshotChunk } from '#shared/contract/sync/feed.ts';
import { identifier } from '#shared/identifier.ts';

const digestA = 'a'.repeat(64);
const digestB = 'b'.repeat(64);
const at10: FollowState = followFrom({
  gateway: 'gw1',
  head: { epoch: 3, cursor: 10, digest: digestA },
  floor: 10,
  certificateSerial: 1,
  executed: [],
});

const put: FeedPut = { op: 'put', kind: 'holder', row: { id: identifier('h1'), name: 'Aiko', version: 11 } };
const batch = (change: Partial<FeedBatch> = {}): FeedBatch =>
  feedBatchStatement.parse({
    gateway: 'gw1',
    epoch: 3,
    from: 10,
    to: 12,
    head: 20,
    changes: [put],
    issuedAt: 1,
    ...change,
  });

const refused = (reason: string) => ({ kind: 'refused', reason });

describe('a batch', () => {
  it('is applied where it begins at the cursor', () => {
    expect(judgeBatch(at10, batch())).toEqual({ kind: 'apply', to: 12 });
  });

  it.each([
    ['of another gateway', { gateway: identifier<'gateway'>('gw2') }, 'other-gateway'],
    ['of the snapshot before', { epoch: 2 }, 'other-epoch'],
    ['of a snapshot that is yet to come', { epoch: 4 }, 'other-epoch'],
    ['that leaves one place out', { from: 11 }, 'gap'],
    ['that begins inside what is applied', { from: 9 }, 'overlap'],
    ['that runs backwards', { from: 12, to: 10 }, 'inconsistent'],
    ['that ends beyond the head', { to: 21 }, 'inconsistent'],
    ['with more changes than places', { from: 10, to: 11, changes: [put, put] }, 'inconsistent'],
  ])('%s is refused', (_, change, reason) => {
    expect(judgeBatch(at10, batch(change))).toEqual(refused(reason));
  });

  it.each([
    ['that was applied', { from: 8, to: 10 }],
    ['of long ago', { from: 0, to: 2 }],
    ['without anything new', { from: 10, to: 10, changes: [] }],
  ])('%s changes nothing', (_, change) => {
    expect(judgeBatch(at10, batch(change))).toEqual({ kind: 'duplicate' });
  });

  it('follows its predecessor and no other', () => {
    const at12 = applied(at10, { epoch: 3, cursor: 12, digest: digestB });
    expect(judgeBatch(at12, batch())).toEqual({ kind: 'duplicate' });
    expect(judgeBatch(at12, batch({ from: 12, to: 13 }))).toEqual({ kind: 'apply', to: 13 });
    expect(at12).toMatchObject({ cursor: 12, digest: digestB, floor: 12 });
  });
});

const credential = (status: 'issued' | 'suspended' | 'revoked') =>
  credentialRow.parse({
    id: 'c1',
    holder: 'h1',
    kind: 'card',
    lookup: 'e'.repeat(64),
    status,
    leaseMs: 'unlimited',
    version: 15,
  });

const urgent = (head: number, status: 'issued' | 'suspended' | 'revoked' = 'revoked') => ({
  gateway: identifier<'gateway'>('gw1'),
  epoch: 3,
  head,
  credentials: [credential(status)],
  issuedAt: 1,
});

describe('urgent rows', () => {
  it('are applied ahead of the cursor, which stays', () => {
    expect(judgeUrgent(at10, urgent(20))).toEqual({ kind: 'apply', floor: 20 });
    const ahead = applied(at10, { epoch: 3, cursor: 10, digest: digestB }, 20);
    expect(ahead).toMatchObject({ cursor: 10, floor: 20 });
    expect(isAhead(ahead)).toBe(true);
    expect(isAhead(applied(ahead, { epoch: 3, cursor: 20, digest: digestB }))).toBe(false);
  });

  it('never allow anything', () => {
    expect(judgeUrgent(at10, urgent(20, 'issued'))).toEqual(refused('not-a-restriction'));
    expect(judgeUrgent(at10, urgent(20, 'suspended'))).toEqual({ kind: 'apply', floor: 20 });
  });

  it('of a place that is applied are no news', () => {
    expect(judgeUrgent(at10, urgent(10))).toEqual({ kind: 'duplicate' });
  });

  it('older than the last are refused; further pages of the same place are not', () => {
    const ahead = applied(at10, { epoch: 3, cursor: 10, digest: digestB }, 20);
    expect(judgeUrgent(ahead, urgent(19))).toEqual(refused('older'));
    expect(judgeUrgent(ahead, urgent(20))).toEqual({ kind: 'apply', floor: 20 });
  });

  it('of another gateway or snapshot are refused', () => {
    expect(judgeUrgent({ ...at10, gateway: 'gw2' }, urgent(20))).toEqual(refused('other-gateway'));
    expect(judgeUrgent({ ...at10, epoch: 4 }, urgent(20))).toEqual(refused('other-epoch'));
  });
});

describe('a repair', () => {
  const repair = (cursor: number, kind: 'holder' | 'door' = 'holder') => ({
    gateway: identifier<'gateway'>('gw1'),
    epoch: 3,
    cursor,
    kind,
    buckets: [1],
    rows: [put],
    issuedAt: 1,
  });

  it('counts only at the cursor it was made for', () => {
    expect(judgeRepair(at10, repair(10))).toEqual({ kind: 'replace' });
    expect(judgeRepair(at10, repair(9))).toEqual(refused('older'));
    expect(judgeRepair(at10, repair(11))).toEqual(refused('gap'));
  });

  it('never takes out what urgent rows brought', () => {
    const ahead = applied(at10, { epoch: 3, cursor: 10, digest: digestB }, 20);
    expect(judgeRepair(ahead, repair(10))).toEqual(refused('urgent-ahead'));
  });

  it('holds rows of its kind only', () => {
    expect(judgeRepair(at10, repair(10, 'door'))).toEqual(refused('inconsistent'));
  });
});

describe('a snapshot', () => {
  const chunk = (index: number, change: Partial<SnapshotChunk> = {}): SnapshotChunk => ({
    gateway: identifier('gw1'),
    snapshot: identifier('s1'),
    index,
    isLast: index === 2,
    cursor: 30,
    digest: digestB,
    rows: [],
    issuedAt: 1,
    ...change,
  });
  const take = (state: FollowState, given: SnapshotChunk): FollowState => {
    const judged = judgeChunk(state, given);
    if (judged.kind !== 'begin' && judged.kind !== 'add') throw new Error(JSON.stringify(judged));
    return judged.state;
  };
  const whole = [0, 1, 2].reduce((state, index) => take(state, chunk(index)), at10);

  it('becomes the replica once all of it is there and adds up', () => {
    expect(whole.snapshot).toMatchObject({ next: 3, isWhole: true });
    const judged = judgeWhole(whole, digestB, 4);
    expect(judged).toMatchObject({ kind: 'switch', epoch: 4 });
    expect(judged.kind === 'switch' && judged.state).toMatchObject({
      epoch: 4,
      cursor: 30,
      digest: digestB,
      floor: 30,
      snapshot: undefined,
    });
  });

  it('goes on where it stopped, and takes no piece twice or before its turn', () => {
    const first = take(at10, chunk(0));
    expect(judgeChunk(first, chunk(0))).toEqual({ kind: 'duplicate' });
    expect(judgeChunk(first, chunk(2))).toEqual(refused('out-of-order'));
    expect(judgeChunk(first, chunk(1)).kind).toBe('add');
    expect(judgeChunk(whole, chunk(3))).toEqual(refused('out-of-order'));
  });

  it('begins only with its first piece', () => {
    expect(judgeChunk(at10, chunk(1))).toEqual(refused('out-of-order'));
    const other = { snapshot: identifier<'snapshot'>('s2') };
    expect(judgeChunk(take(at10, chunk(0)), chunk(1, other))).toEqual(refused('out-of-order'));
    expect(judgeChunk(take(at10, chunk(0)), chunk(0, other)).kind).toBe('begin');
    expect(judgeChunk(withoutSnapshot(take(at10, chunk(0))), chunk(1))).toEqual(refused('out-of-order'));
  });

  it('does not change under way', () => {
    const first = take(at10, chunk(0));
    expect(judgeChunk(first, chunk(1, { digest: digestA }))).toEqual(refused('inconsistent'));
    expect(judgeChunk(first, chunk(1, { cursor: 31 }))).toEqual(refused('inconsistent'));
  });

  it('older than what was applied, or than urgent rows, is refused from its first piece', () => {
    expect(judgeChunk(at10, chunk(0, { cursor: 9 }))).toEqual(refused('older'));
    const ahead = applied(at10, { epoch: 3, cursor: 10, digest: digestA }, 31);
    expect(judgeChunk(ahead, chunk(0))).toEqual(refused('older'));
  });

  it('that was overtaken while it was fetched does not become the replica', () => {
    const overtaken = applied(whole, { epoch: 3, cursor: 31, digest: digestA });
    expect(judgeWhole(overtaken, digestB, 4)).toEqual(refused('older'));
  });

  it('that does not add up, is not whole, or has no new epoch does not become the replica', () => {
    expect(judgeWhole(whole, digestA, 4)).toEqual(refused('digest-differs'));
    expect(judgeWhole(take(at10, chunk(0)), digestB, 4)).toEqual(refused('out-of-order'));
    expect(judgeWhole(whole, digestB, 3)).toEqual(refused('out-of-order'));
  });

  it('of another gateway is refused', () => {
    expect(judgeChunk({ ...at10, gateway: 'gw2' }, chunk(0))).toEqual(refused('other-gateway'));
  });
});

describe('after a restart', () => {
  it('nothing older than what was journalled is taken, though the file is gone', () => {
    const emptied = followFrom({
      gateway: 'gw1',
      head: { epoch: 0, cursor: 0, digest: digestA },
      floor: 10,
      certificateSerial: 1,
      executed: [],
    });
    expect(emptied).toMatchObject({ floor: 10, nonces: [], contactAt: undefined });
  });
});
