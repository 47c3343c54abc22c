/**
 * Rules that are broken on purpose, one at a time. The simulation must notice each: else it would not notice the same fault in
 * what runs.
 */
import { duplicate, type FollowState } from '#gateway/replica/follow-state.ts';
import { monoMs } from '#shared/instant.ts';
import { type Parts, parts } from './parts.ts';

export interface Mutant {
  readonly name: string;
  readonly parts: Parts;
  /** Where the search begins; later for what few worlds show, so that a run of the tests is short. */
  readonly firstSeed: number;
}

const mutant = (name: string, change: Partial<Parts>, firstSeed = 1): Mutant => ({
  name,
  parts: { ...parts, ...change },
  firstSeed,
});
const disordered = (name: string, change: Partial<Parts['order']>): Mutant =>
  mutant(name, { order: { ...parts.order, ...change } });

/** A state in which a question is always open, whatever was asked. */
const withOpenNonce = (state: FollowState, nonce: string, at: number): FollowState => ({
  ...state,
  nonces: [
    ...state.nonces.filter((live) => live.nonce !== nonce),
    { nonce, purpose: 'poll', issuedAt: monoMs(at), isSpent: false },
  ],
});

export const mutants: readonly Mutant[] = [
  // The feed, at the door
  mutant(
    'takes a batch that leaves a place out',
    {
      judgeBatch: (state, batch) => {
        const judged = parts.judgeBatch(state, batch);
        return judged.kind === 'refused' && judged.reason === 'gap' ? { kind: 'apply', to: batch.to } : judged;
      },
    },
    95,
  ),
  mutant('takes a batch again', {
    judgeBatch: (state, batch) => {
      const judged = parts.judgeBatch(state, batch);
      return judged === duplicate ? { kind: 'apply', to: batch.to } : judged;
    },
  }),
  mutant('is one place short after a batch', {
    judgeBatch: (state, batch) => {
      const judged = parts.judgeBatch(state, batch);
      return judged.kind === 'apply' ? { kind: 'apply', to: judged.to - 1 } : judged;
    },
  }),
  mutant('is one place too far after a batch', {
    judgeBatch: (state, batch) => {
      const judged = parts.judgeBatch(state, batch);
      return judged.kind === 'apply' ? { kind: 'apply', to: judged.to + 1 } : judged;
    },
  }),
  mutant('lets an older row take the place of a newer', {
    isEffective: (held, change) => change.op === 'put' || parts.isEffective(held, change),
  }),
  mutant('never takes a row out', {
    isEffective: (held, change) => change.op === 'put' && parts.isEffective(held, change),
  }),
  mutant('gives the card to who had it before', {
    takesLookupFrom: (other, put) => !parts.takesLookupFrom(other, put),
  }),
  mutant('moves the cursor with urgent rows', {
    applied: (state, head, floor = 0) => parts.applied(state, { ...head, cursor: Math.max(head.cursor, floor) }, floor),
  }),
  mutant('forgets that urgent rows are ahead', {
    applied: (state, head) => ({ ...parts.applied(state, head), floor: head.cursor }),
  }),
  mutant('takes an older snapshot', {
    judgeChunk: (state, chunk) => parts.judgeChunk({ ...state, floor: 0 }, chunk),
    judgeWhole: (state, digest, epoch) => parts.judgeWhole({ ...state, floor: 0 }, digest, epoch),
  }),
  mutant('does not sum a snapshot up', {
    judgeWhole: (state, _, epoch) => parts.judgeWhole(state, state.snapshot?.digest ?? '', epoch),
  }),
  mutant(
    'looks ahead to where it has been',
    {
      judgeUrgent: (state, urgent) => parts.judgeUrgent({ ...state, cursor: 0, floor: 0 }, urgent),
    },
    480,
  ),
  // Answers, at the door
  mutant('renews a lease without a question of its own', {
    judgeLease: (state, lease, at) => parts.judgeLease(withOpenNonce(state, lease.nonce, at), lease, at),
  }),
  mutant('renews a lease wherever it stands', {
    judgeLease: (state, lease, at) =>
      parts.judgeLease(state, { ...lease, head: state.cursor, digest: state.digest }, at),
  }),
  mutant('counts contact from the answer', {
    judgeLease: (state, lease, at) => {
      const judged = parts.judgeLease(state, lease, at);
      return judged.kind === 'renew' ? { ...judged, contactAt: at } : judged;
    },
  }),
  mutant('renews twice by one answer', {
    judgeLease: (state, lease, at) => {
      const nonces = state.nonces.map((live) => ({ ...live, isSpent: false }));
      return parts.judgeLease({ ...state, nonces }, lease, at);
    },
  }),
  mutant('takes up a command again', {
    judgeCommand: (state, command, at) => parts.judgeCommand({ ...state, executed: [] }, command, at),
  }),
  mutant('takes up a command without a question of its own', {
    judgeCommand: (state, command, at) => parts.judgeCommand(withOpenNonce(state, command.nonce, at), command, at),
  }),
  mutant('takes up a command after its time', {
    judgeCommand: (state, command, at) => parts.judgeCommand(state, { ...command, lifetimeMs: 60_000 }, at),
  }),
  mutant('forgets in a restart what it has done', {
    followFrom: (saved) => parts.followFrom({ ...saved, executed: [] }),
  }),
  mutant('believes any time', {
    judgeTime: (state, time, at) =>
      parts.judgeTime(
        { ...state, nonces: [{ nonce: time.nonce, purpose: 'time', issuedAt: at, isSpent: false }] },
        time,
        at,
      ),
  }),
  // The feed, in the cloud
  mutant('divides a group', {
    cutBatch: (from, groups, limits) => {
      const to = parts.cutBatch(from, groups, limits);
      return to > from + 1 ? to - 1 : to;
    },
  }),
  mutant('sends from one place too late', {
    judgePoll: (facts) => {
      const judged = parts.judgePoll(facts);
      return judged.kind === 'feed' && judged.behind > 1 ? { ...judged, from: judged.from + 1 } : judged;
    },
  }),
  mutant('keeps no look at what is still there', {
    judgePoll: (facts) => parts.judgePoll({ ...facts, oldestSeq: 0 }),
    cutBatch: (from, groups, limits) => groups.at(-1)?.lastSeq ?? parts.cutBatch(from, groups, limits),
  }),
  mutant('calls effective what was only sent', {
    judgeAck: (facts, ack) => {
      const judged = parts.judgeAck(facts, ack);
      return judged.kind === 'count' ? { ...judged, effectiveTo: facts.head.seq } : judged;
    },
  }),
  mutant('counts an old ack', { judgeAck: (facts, ack) => parts.judgeAck({ ...facts, heardOfBoot: 0 }, ack) }),
  mutant('never asks whether the sums are the same', {
    judgeAck: (facts, ack) => {
      const judged = parts.judgeAck(facts, ack);
      return judged.kind === 'count' && judged.compared === 'differs' ? { ...judged, compared: 'same' } : judged;
    },
  }),
  mutant('gives places again that a gateway has seen', {
    judgeAck: (facts, ack) => {
      const judged = parts.judgeAck(facts, ack);
      if (judged.kind !== 'count') return judged;
      const { raiseHeadTo: _, ...rest } = judged;
      return rest;
    },
  }),
  mutant('offers a command after its time', {
    offeredMs: (command, polledAt, now) => parts.offeredMs(command, polledAt, now) && 60_000,
  }),
  // History
  mutant('stores what does not follow', {
    judgeUpload: (facts, upload, isSigned) => {
      const judged = parts.judgeUpload(facts, upload, isSigned);
      if (judged.kind !== 'gap' || upload.epoch !== facts.stand.epoch) return judged;
      const stand = { ...facts.stand, seq: upload.firstSeq - 1, hash: upload.prevHash };
      return parts.judgeUpload({ ...facts, stand }, upload, () => true);
    },
  }),
  mutant('stores twice', {
    judgeUpload: (facts, upload, isSigned) => {
      const judged = parts.judgeUpload(facts, upload, isSigned);
      if (judged.kind !== 'noop') return judged;
      return { kind: 'store', entries: upload.entries, heads: upload.heads, stand: facts.stand };
    },
  }),
  mutant('stores what is not on the chain', {
    judgeUpload: (facts, upload, isSigned) => {
      const judged = parts.judgeUpload(facts, upload, isSigned);
      const last = upload.entries.at(-1);
      if (judged.kind !== 'refused' || judged.reason !== 'edited' || last === undefined) return judged;
      const stand = { ...facts.stand, seq: last.seq, hash: last.hash };
      return { kind: 'store', entries: upload.entries, heads: upload.heads, stand };
    },
  }),
  mutant('takes two histories for one', {
    judgeUpload: (facts, upload, isSigned) => {
      const judged = parts.judgeUpload(facts, upload, isSigned);
      return judged.kind === 'forked' ? { kind: 'noop' } : judged;
    },
  }),
  mutant('forgets without being told', {
    judgeJournalAck: (stand, word, ours) => {
      const judged = parts.judgeJournalAck(stand, word, ours);
      return judged.kind === 'advance' ? { kind: 'advance', place: stand.tip } : judged;
    },
  }),
  mutant('goes on under numbers that were given before', {
    judgeJournalAck: (stand, word, ours) => {
      const judged = parts.judgeJournalAck(stand, word, ours);
      return judged.kind === 'lost' ? { kind: 'duplicate' } : judged;
    },
  }),
  // The machine of edge
  mutant('gives up after a failure', {
    stepSync: (state, input, at, random) => {
      const step = parts.stepSync(state, input, at, random);
      return { ...step, effects: step.effects.filter(({ kind }) => kind !== 'wake') };
    },
  }),
  mutant('waits for the next poll before it says what is in use', {
    stepSync: (state, input, at, random) =>
      parts.stepSync(
        { ...state, needs: { ...state.needs, ack: false } },
        'needs' in input && input.needs ? { ...input, needs: { ...input.needs, ack: false } } : input,
        at,
        random,
      ),
  }),
  // The order in which the shells do things
  disordered('answers for history before it is stored', { storeThenAck: false }),
  disordered('acts before it is in the history', { journalThenAct: false }),
  disordered('says that rows are in use before they are', { useThenAck: false }),
  disordered('numbers the newest first', { oldestFirst: false }),
  disordered('numbers without the lock', { lockThenNumber: false }),
  disordered('numbers only what comes after the last', { findUnnumbered: false }),
];
