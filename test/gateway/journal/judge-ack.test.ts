import { describe, expect, it } from 'vitest';
import { judgeJournalAck } from '#gateway/journal/judge-ack.ts';
import { identifier } from '#shared/identifier.ts';
import { placeOf } from '#shared/journal-chain.ts';

const stand = { tip: placeOf(2, 80), acked: placeOf(2, 50) };
const ours = { gateway: 'gw1', hashAt: 'aa', keyAfter: 'k1' };
const word = (epoch: number, seq: number, hash = 'aa', gateway = 'gw1') => ({
  gateway: identifier<'gateway'>(gateway),
  epoch,
  seq,
  hash,
  nextKey: 'k1',
});

describe('the cloud’s word on the history', () => {
  it('advances to an entry that is ours as we have it', () => {
    expect(judgeJournalAck(stand, word(2, 60), ours)).toEqual({ kind: 'advance', place: placeOf(2, 60) });
    expect(judgeJournalAck(stand, word(2, 80), ours)).toEqual({ kind: 'advance', place: placeOf(2, 80) });
  });

  it('never goes back', () => {
    expect(judgeJournalAck(stand, word(2, 50), ours)).toEqual({ kind: 'duplicate' });
    expect(judgeJournalAck(stand, word(2, 49), { ...ours, hashAt: undefined })).toEqual({ kind: 'duplicate' });
    expect(judgeJournalAck(stand, word(1, 500), ours)).toEqual({ kind: 'duplicate' });
  });

  it('on an entry beyond our last says that our end is lost', () => {
    const lost = { kind: 'lost', knownEpoch: 2, knownSeq: 81, nextEpoch: 3 };
    expect(judgeJournalAck(stand, word(2, 81), { ...ours, hashAt: undefined })).toEqual(lost);
  });

  it('on another entry under our number says that our end is another', () => {
    expect(judgeJournalAck(stand, word(2, 60, 'bb'), ours)).toMatchObject({ kind: 'lost', nextEpoch: 3 });
  });

  it('that expects another key says that the head which named it is lost', () => {
    expect(judgeJournalAck(stand, word(2, 60), { ...ours, keyAfter: 'k0' })).toMatchObject({
      kind: 'lost',
      nextEpoch: 3,
    });
    expect(judgeJournalAck(stand, word(2, 60), { ...ours, keyAfter: undefined })).toMatchObject({ kind: 'advance' });
  });

  it('on a later epoch says that more than our end is lost, and which epoch is free', () => {
    const lost = { kind: 'lost', knownEpoch: 4, knownSeq: 1, nextEpoch: 5 };
    expect(judgeJournalAck(stand, word(4, 1), { ...ours, hashAt: undefined })).toEqual(lost);
  });

  it('for another gateway is refused', () => {
    expect(judgeJournalAck(stand, word(2, 60, 'aa', 'gw2'), ours)).toEqual({
      kind: 'refused',
      reason: 'other-gateway',
    });
  });
});
