import { describe, expect, it } from 'vitest';
import { type FollowState, followFrom } from '#gateway/replica/follow-state.ts';
import { executedMax, judgeCertificate, judgeCommand, judgeLease, judgeTime } from '#gateway/replica/judge-answer.ts';
import { type NoncePurpose, nonceLifeMs, withNonce } from '#gateway/replica/live-nonces.ts';
import { commandStatement } from '#shared/contract/sync/command.ts';
import { identifier } from '#shared/identifier.ts';
import { monoMs, wallMs } from '#shared/instant.ts';

const digest = 'a'.repeat(64);
const start: FollowState = followFrom({
  gateway: 'gw1',
  head: { epoch: 3, cursor: 10, digest },
  floor: 10,
  certificateSerial: 4,
  executed: [],
});
const nonceOf = (letter: string) => letter.repeat(22);
const ask = (state: FollowState, letter: string, at: number, purpose: NoncePurpose = 'poll'): FollowState => ({
  ...state,
  nonces: withNonce(state.nonces, { nonce: nonceOf(letter), purpose }, monoMs(at)),
});
const refused = (reason: string) => ({ kind: 'refused', reason });

const lease = (letter: string, change: object = {}) => ({
  gateway: identifier<'gateway'>('gw1'),
  nonce: nonceOf(letter),
  epoch: 3,
  head: 10,
  digest,
  issuedAt: 5,
  ...change,
});

describe('a lease', () => {
  const asked = ask(start, 'p', 1_000);

  it('is renewed as of the question, not of the answer', () => {
    const judged = judgeLease(asked, lease('p'), monoMs(31_000));
    expect(judged).toMatchObject({ kind: 'renew', contactAt: 1_000 });
  });

  it('is renewed once by one answer', () => {
    const judged = judgeLease(asked, lease('p'), monoMs(2_000));
    expect(judged.kind === 'renew' && judgeLease(judged.state, lease('p'), monoMs(2_001))).toEqual(
      refused('nonce-spent'),
    );
  });

  it.each([
    ['without a question of ours', {}, 'q', 'nonce-unknown'],
    ['for another gateway', { gateway: identifier<'gateway'>('gw2') }, 'p', 'other-gateway'],
    ['for another snapshot', { epoch: 2 }, 'p', 'other-epoch'],
    ['for a place beyond ours', { head: 11 }, 'p', 'not-at-head'],
    ['for a place before ours', { head: 9 }, 'p', 'not-at-head'],
    ['for other rows', { digest: 'b'.repeat(64) }, 'p', 'not-at-head'],
  ])('%s is refused', (_, change, letter, reason) => {
    expect(judgeLease(asked, lease(letter, change), monoMs(2_000))).toEqual(refused(reason));
  });

  it('is not renewed by the answer to a question that is too old, for the time, or of another boot', () => {
    expect(judgeLease(asked, lease('p'), monoMs(1_000 + nonceLifeMs))).toEqual(refused('nonce-unknown'));
    expect(judgeLease(ask(start, 't', 1_000, 'time'), lease('t'), monoMs(2_000))).toEqual(refused('nonce-unknown'));
    expect(judgeLease(start, lease('p'), monoMs(2_000))).toEqual(refused('nonce-unknown'));
  });

  it('never makes contact older', () => {
    const both = ask(asked, 'q', 2_000);
    const newer = judgeLease(both, lease('q'), monoMs(3_000));
    expect(newer.kind === 'renew' && judgeLease(newer.state, lease('p'), monoMs(3_001))).toEqual(refused('older'));
  });

  it('is not believed by a clock that ran backwards', () => {
    expect(judgeLease(asked, lease('p'), monoMs(999))).toEqual(refused('nonce-unknown'));
  });
});

describe('questions', () => {
  it('are bounded, the oldest forgotten first', () => {
    const state = [...'abcdefghijklmnopqrstuvwxyz'].reduce((before, letter) => ask(before, letter, 1_000), start);
    expect(state.nonces).toHaveLength(16);
    expect(state.nonces.at(-1)?.nonce).toBe(nonceOf('z'));
  });
});

describe('a command', () => {
  const asked = ask(start, 'p', 1_000);
  const command = (change: object = {}) =>
    commandStatement.parse({
      gateway: 'gw1',
      id: 'cmd1',
      nonce: nonceOf('p'),
      lifetimeMs: 20_000,
      actor: 'Sato',
      issuedAt: 5,
      what: { act: 'release', door: 'd1' },
      ...change,
    });

  it('is taken up once, however often it is offered', () => {
    const judged = judgeCommand(asked, command(), monoMs(2_000));
    if (judged.kind !== 'take-up') throw new Error('not taken up');
    expect(judgeCommand(judged.state, command(), monoMs(2_000))).toEqual({ kind: 'duplicate' });
    const askedAgain = ask(judged.state, 'q', 30_000);
    expect(judgeCommand(askedAgain, command({ nonce: nonceOf('q') }), monoMs(30_001))).toEqual({ kind: 'duplicate' });
  });

  it('lives from the question on', () => {
    expect(judgeCommand(asked, command(), monoMs(20_999)).kind).toBe('take-up');
    expect(judgeCommand(asked, command(), monoMs(21_000))).toEqual(refused('too-late'));
  });

  it('of another gateway, or without a question of this boot, is refused', () => {
    expect(judgeCommand(asked, command({ gateway: 'gw2' }), monoMs(2_000))).toEqual(refused('other-gateway'));
    expect(judgeCommand(start, command(), monoMs(2_000))).toEqual(refused('nonce-unknown'));
  });

  it('that was taken up before a restart is not again', () => {
    const restarted = ask({ ...start, executed: [{ id: 'cmd1', at: monoMs(0) }] }, 'p', 1_000);
    expect(judgeCommand(restarted, command(), monoMs(2_000))).toEqual({ kind: 'duplicate' });
  });

  it('is refused where there were too many in ten minutes, and the old ones are then forgotten', () => {
    const executed = Array.from({ length: executedMax }, (_, index) => ({ id: `c${index}`, at: monoMs(0) }));
    const busy = ask({ ...start, executed }, 'p', 1_000);
    expect(judgeCommand(busy, command(), monoMs(2_000))).toEqual(refused('too-many'));
    const later = ask(busy, 'p', 600_000);
    const judged = judgeCommand(later, command(), monoMs(600_001));
    expect(judged.kind === 'take-up' && judged.state.executed).toEqual([{ id: 'cmd1', at: 600_001 }]);
  });
});

describe('the time', () => {
  const asked = ask(start, 't', 1_000, 'time');
  const time = (letter: string, gateway: string | null = null) => ({
    gateway: gateway === null ? null : identifier<'gateway'>(gateway),
    nonce: nonceOf(letter),
    at: 1_800_000_000_000,
  });

  it('is believed once, with how long the answer took', () => {
    const judged = judgeTime(asked, time('t'), monoMs(1_250));
    expect(judged).toMatchObject({ kind: 'believe', wall: 1_800_000_000_000, tookMs: 250 });
    expect(judged.kind === 'believe' && judgeTime(judged.state, time('t'), monoMs(1_251))).toEqual(
      refused('nonce-unknown'),
    );
  });

  it('is not believed late, for another gateway, or as the answer to a poll', () => {
    expect(judgeTime(asked, time('t'), monoMs(6_001))).toEqual(refused('too-late'));
    expect(judgeTime(asked, time('t', 'gw2'), monoMs(1_250))).toEqual(refused('other-gateway'));
    expect(judgeTime(ask(start, 'p', 1_000), time('p'), monoMs(1_250))).toEqual(refused('nonce-unknown'));
  });
});

describe('a certificate', () => {
  const certificate = (serial: number) => ({
    feedKey: 'A'.repeat(43),
    sealKey: 'B'.repeat(43),
    serial,
    notBefore: wallMs(1_000),
    notAfter: wallMs(2_000),
  });

  it('takes the place of one with a lower serial, and never of a higher', () => {
    expect(judgeCertificate(start, certificate(5), wallMs(1_500))).toMatchObject({
      kind: 'accept',
      state: { certificateSerial: 5 },
    });
    expect(judgeCertificate(start, certificate(4), wallMs(1_500))).toEqual({ kind: 'duplicate' });
    expect(judgeCertificate(start, certificate(3), wallMs(1_500))).toEqual(refused('older'));
  });

  it('is looked at by date only where the time is known', () => {
    expect(judgeCertificate(start, certificate(5), wallMs(999))).toEqual(refused('not-yet-valid'));
    expect(judgeCertificate(start, certificate(5), wallMs(2_000))).toEqual(refused('no-longer-valid'));
    expect(judgeCertificate(start, certificate(5), undefined).kind).toBe('accept');
  });
});
