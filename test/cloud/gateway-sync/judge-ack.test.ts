import { describe, expect, it } from 'vitest';
import { type AckFacts, judgeAck } from '#cloud/gateway-sync/judge-ack.ts';
import { judgePoll, type PollFacts } from '#cloud/gateway-sync/judge-poll.ts';
import { feedAckStatement } from '#shared/contract/sync/feed.ts';

const digest = 'a'.repeat(64);
const other = 'b'.repeat(64);
const facts: AckFacts = { gateway: 'gw1', last: { epoch: 2, cursor: 10 }, heardOfBoot: 4, head: { seq: 20, digest } };
const ack = (change: object = {}) =>
  feedAckStatement.parse({
    gateway: 'gw1',
    epoch: 2,
    cursor: 12,
    digest,
    at: null,
    bootId: 'boot',
    count: 5,
    nonce: 'n'.repeat(22),
    ...change,
  });

describe('a signed ack', () => {
  it('makes rows up to its cursor effective', () => {
    expect(judgeAck(facts, ack())).toEqual({ kind: 'count', effectiveTo: 12, compared: 'behind' });
  });

  it('says at the head whether both sides hold the same', () => {
    expect(judgeAck(facts, ack({ cursor: 20 }))).toEqual({ kind: 'count', effectiveTo: 20, compared: 'same' });
  });

  it('makes nothing effective while the sums differ', () => {
    expect(judgeAck(facts, ack({ cursor: 20, digest: other }))).toEqual({
      kind: 'count',
      effectiveTo: 0,
      compared: 'differs',
    });
  });

  it('counts once, and not after a later one of its boot', () => {
    expect(judgeAck(facts, ack({ count: 4 }))).toEqual({ kind: 'noop' });
    expect(judgeAck(facts, ack({ count: 3, cursor: 19 }))).toEqual({ kind: 'noop' });
  });

  it('that says less than the last withdraws what is no longer so, with an alarm', () => {
    const judged = { kind: 'count', effectiveTo: 6, withdrawAfter: 6, compared: 'behind', alarm: 'regressed' };
    expect(judgeAck(facts, ack({ cursor: 6 }))).toEqual(judged);
  });

  it('beyond the head shows that the cloud is the older one: the feed goes on above it', () => {
    const judged = { kind: 'count', effectiveTo: 0, compared: 'differs', alarm: 'ahead', raiseHeadTo: 33 };
    expect(judgeAck(facts, ack({ cursor: 33, digest: other }))).toEqual(judged);
    expect(judgeAck(facts, ack({ cursor: 33 }))).toEqual({ ...judged, effectiveTo: 33, compared: 'same' });
  });

  it('that looked further ahead than the feed goes shows the same, and only a snapshot tells what it lacks', () => {
    const judged = { kind: 'count', effectiveTo: 0, compared: 'strayed', alarm: 'ahead', raiseHeadTo: 44 };
    expect(judgeAck(facts, ack({ floor: 44 }))).toEqual(judged);
    expect(judgeAck(facts, ack({ cursor: 20, floor: 44 }))).toEqual(judged);
  });

  it('on its way is compared where the feed is known there, unless it looks ahead', () => {
    const strayed = { kind: 'count', effectiveTo: 0, compared: 'strayed' };
    expect(judgeAck({ ...facts, placed: 'no-end' }, ack())).toEqual(strayed);
    expect(judgeAck({ ...facts, placed: other }, ack({ floor: 12 }))).toEqual(strayed);
    expect(judgeAck({ ...facts, placed: other }, ack({ floor: 15 }))).toMatchObject({ compared: 'behind' });
    expect(judgeAck({ ...facts, placed: other }, ack())).toMatchObject({ compared: 'behind' });
    expect(judgeAck({ ...facts, placed: digest }, ack({ floor: 12 }))).toMatchObject({ compared: 'behind' });
  });

  it('that says there are no rows counts, is no difference, and keeps the feed above what there was', () => {
    const nothing = ack({ epoch: 0, cursor: 0, floor: 12 });
    const counted = { kind: 'count', effectiveTo: 0, compared: 'behind' };
    expect(judgeAck({ ...facts, placed: 'no-end' }, nothing)).toMatchObject({ ...counted, withdrawAfter: 0 });
    const restored = { ...facts, head: { seq: 8, digest } };
    expect(judgeAck(restored, nothing)).toMatchObject({ ...counted, alarm: 'ahead', raiseHeadTo: 12 });
  });

  it('of another gateway is refused', () => {
    expect(judgeAck(facts, ack({ gateway: 'gw2' }))).toEqual({ kind: 'refused', reason: 'other-gateway' });
  });
});

describe('a poll', () => {
  const poll: PollFacts = {
    query: { epoch: 2, after: 10 },
    acked: { epoch: 2, cursor: 10, isSame: false },
    headSeq: 20,
    oldestSeq: 5,
  };

  it('is answered from its place on', () => {
    expect(judgePoll(poll)).toEqual({ kind: 'feed', from: 10, behind: 10, isAtHead: false });
    expect(judgePoll({ ...poll, oldestSeq: 11 })).toMatchObject({ kind: 'feed' });
  });

  it.each([
    ['before the first snapshot', { query: { epoch: 0, after: 0 } }],
    ['before any signed ack', { acked: undefined }],
    ['for a snapshot that no signed ack has named', { query: { epoch: 3, after: 10 } }],
    ['beyond the head', { query: { epoch: 2, after: 21 } }],
    ['from a place that is no longer kept', { oldestSeq: 12 }],
  ])('%s is sent for a snapshot', (_, change) => {
    expect(judgePoll({ ...poll, ...change })).toEqual({ kind: 'snapshot-needed' });
  });

  it('is contact only where a signed ack stands at the head with the head’s sums', () => {
    const query = { epoch: 2, after: 20 };
    const atHead = { ...poll, query, acked: { epoch: 2, cursor: 20, isSame: true } };
    expect(judgePoll(atHead)).toEqual({ kind: 'feed', from: 20, behind: 0, isAtHead: true });
    expect(judgePoll({ ...atHead, acked: { epoch: 2, cursor: 20, isSame: false } })).toMatchObject({ isAtHead: false });
    expect(judgePoll({ ...atHead, acked: { epoch: 2, cursor: 19, isSame: true } })).toMatchObject({ isAtHead: false });
  });
});
