/**
 * What edge does next: which call to the cloud, and when again after a failure.
 *
 * Three lanes go on their own, one call at a time in each, so that a long poll delays no history and a slow upload no
 * revocation; each call has its own back-off, so that none that keeps failing keeps the feed from being polled.
 * Edge decides nothing that carries authority: it asks the door process what it needs, and carries bytes.
 * Guarantees: a lane has a call under way, a time to wait for, or nothing to do; waits grow to a minute and no further,
 * for ever.
 * Not promised: deadlines of calls; the shell ends each after its own.
 */
import type { MonoMs } from '#shared/instant.ts';
import { type CallFailure, isOfTheWay, isOwnTrouble } from './call-failure.ts';
import { afterFailure, afterSuccess, type Call, type CallRecord, type CallResult, untried } from './call-record.ts';

const laneOf = {
  time: 'time',
  ack: 'down',
  snapshot: 'down',
  repair: 'down',
  feed: 'down',
  journal: 'up',
  read: 'up',
} as const satisfies Record<Call, string>;
export type Lane = (typeof laneOf)[Call];

/** What the door process has to send or wants to have; it says so with every reply and when it changes. */
export interface DoorNeeds {
  /** It stands where the cloud has not answered an ack for. */
  readonly ack: boolean;
  readonly snapshot: boolean;
  readonly repair: boolean;
  /** Entries that the cloud has not answered for. */
  readonly journal: boolean;
  /** Evidence for its clock. */
  readonly time: boolean;
  readonly read: boolean;
}

export interface SyncState {
  readonly needs: DoorNeeds;
  /** What is under way, by lane. */
  readonly busy: { readonly [Of in Lane]: { readonly call: Call; readonly since: MonoMs } | undefined };
  readonly records: { readonly [Of in Call]: CallRecord };
  /** Some call has succeeded. */
  readonly hasSpoken: boolean;
  /** How many entries an upload may hold; halved by 413, grown again by success. */
  readonly uploadEntries: number;
  readonly isStopped: boolean;
}

export type SyncInput =
  | { readonly kind: 'tick' }
  | { readonly kind: 'needs'; readonly needs: DoorNeeds }
  /** `needs` as the door process said after it was given the answer, if there was one. */
  | { readonly kind: 'ended'; readonly call: Call; readonly result: CallResult; readonly needs?: DoorNeeds }
  /** The network came back: waiting is over. */
  | { readonly kind: 'link-up' }
  | { readonly kind: 'stop' };

export type SyncEffect =
  /** Ask door for what is to be sent, call, give door the answer, then come back with `ended`. */
  | { readonly kind: 'call'; readonly call: Call; readonly uploadEntries: number }
  /** Come back with `tick` then; replaces any earlier one. */
  | { readonly kind: 'wake'; readonly at: MonoMs }
  | { readonly kind: 'abort-all' };

export interface SyncStep {
  readonly state: SyncState;
  readonly effects: readonly SyncEffect[];
}

export const uploadEntriesMax = 500;

/** At the start everything is needed until door says otherwise: the ack tells the cloud where door stands. */
export function createSync(): SyncState {
  return {
    needs: { ack: true, snapshot: false, repair: false, journal: true, time: true, read: false },
    busy: { down: undefined, up: undefined, time: undefined },
    records: eachCall(() => untried),
    hasSpoken: false,
    uploadEntries: uploadEntriesMax,
    isStopped: false,
  };
}

/** @param random in [0, 1), for the wait after a failure. */
export function stepSync(state: SyncState, input: SyncInput, at: MonoMs, random: number): SyncStep {
  if (state.isStopped) return { state, effects: [] };
  switch (input.kind) {
    case 'tick':
      return go(state, at);
    case 'needs':
      return go({ ...state, needs: input.needs }, at);
    case 'ended':
      return go(afterCall(state, input, at, random), at);
    case 'link-up':
      return go({ ...state, records: impatient(state.records) }, at);
    case 'stop':
      return { state: { ...state, isStopped: true }, effects: [{ kind: 'abort-all' }] };
  }
}

export type Uplink =
  | { readonly kind: 'starting' | 'online' }
  | { readonly kind: 'failing'; readonly why: CallFailure; readonly since: MonoMs; readonly failures: number };

/** What people are told of the way to the cloud: what hinders the feed first, then history, then time. */
export function uplinkOf({ records, hasSpoken }: SyncState): Uplink {
  const { feed, ack, snapshot, repair, journal, read, time } = records;
  for (const { trouble } of [feed, ack, snapshot, repair, journal, read, time])
    if (trouble !== undefined && !isOwnTrouble(trouble.why)) return { kind: 'failing', ...trouble };
  return { kind: hasSpoken ? 'online' : 'starting' };
}

type Ended = Extract<SyncInput, { kind: 'ended' }>;

function afterCall(state: SyncState, ended: Ended, at: MonoMs, random: number): SyncState {
  const { call, result } = ended;
  const lane = laneOf[call];
  const underWay = state.busy[lane];
  // An answer to a call that is not under way: a late echo of one that was given up.
  if (underWay?.call !== call) return state;
  const needs = ended.needs ?? state.needs;
  const after = { ...state, needs, busy: { ...state.busy, [lane]: undefined } };
  if (result.kind === 'ok') {
    // An ack that such a poll makes necessary goes at once; the next poll waits its time all the same.
    const isFollowed = needs.ack || needs.snapshot || needs.repair;
    const isEmptyPoll = call === 'feed' && (result.isEmpty === true || !isFollowed);
    const record = afterSuccess(underWay.since, at, isEmptyPoll);
    const records = { ...readmitted(state.records, lane), [call]: record };
    return { ...after, hasSpoken: true, records, ...grown(state, call) };
  }
  const records = { ...state.records, [call]: afterFailure(state.records[call], result, at, random) };
  const wanted = result.why === 'clock-skewed' ? { ...needs, time: true } : needs;
  return { ...after, needs: wanted, records, ...shrunk(state, result.why) };
}

/** A call came through: what waits only for the way need not wait; and who is heard may be no longer refused. */
function readmitted(records: SyncState['records'], lane: Lane): SyncState['records'] {
  const anew = (call: Call): CallRecord => {
    const record = records[call];
    const why = record.trouble?.why;
    if (why === undefined) return record;
    if (isOfTheWay(why)) return { ...record, notBefore: undefined };
    return why === 'revoked' && lane === 'down' && laneOf[call] === 'up' ? untried : record;
  };
  return eachCall(anew);
}

const impatient = (records: SyncState['records']): SyncState['records'] =>
  eachCall((call) => ({ ...records[call], notBefore: undefined }));

const eachCall = (of: (call: Call) => CallRecord): SyncState['records'] => ({
  time: of('time'),
  ack: of('ack'),
  snapshot: of('snapshot'),
  repair: of('repair'),
  feed: of('feed'),
  journal: of('journal'),
  read: of('read'),
});

const grown = ({ uploadEntries }: SyncState, call: Call) =>
  call === 'journal' ? { uploadEntries: Math.min(uploadEntriesMax, uploadEntries + 16) } : {};
const shrunk = ({ uploadEntries }: SyncState, why: CallFailure) =>
  why === 'too-large' ? { uploadEntries: Math.max(1, Math.floor(uploadEntries / 2)) } : {};

/** Starts what can start, and says when to come back. */
function go(state: SyncState, at: MonoMs): SyncStep {
  const effects: SyncEffect[] = [];
  const busy = { ...state.busy };
  let wakeAt: MonoMs | undefined;
  for (const lane of ['time', 'down', 'up'] as const) {
    if (busy[lane] !== undefined) continue;
    const wanted = wantedCalls(state, lane).map((call) => ({ call, notBefore: state.records[call].notBefore ?? at }));
    const due = wanted.find(({ notBefore }) => notBefore <= at);
    if (due !== undefined) {
      busy[lane] = { call: due.call, since: at };
      effects.push({ kind: 'call', call: due.call, uploadEntries: state.uploadEntries });
      continue;
    }
    for (const { notBefore } of wanted) if (wakeAt === undefined || notBefore < wakeAt) wakeAt = notBefore;
  }
  if (wakeAt !== undefined) effects.push({ kind: 'wake', at: wakeAt });
  return { state: { ...state, busy }, effects };
}

/** What is wanted, the most urgent first. The ack goes before all else downwards: it is what contact is given for. */
function wantedCalls({ needs, records }: SyncState, lane: Lane): readonly Call[] {
  const isRevoked = authenticated.some((call) => records[call].trouble?.why === 'revoked');
  const wanted: { readonly [Of in Lane]: readonly (readonly [Call, boolean])[] } = {
    time: [['time', needs.time]],
    down: [
      ['ack', needs.ack],
      ['snapshot', needs.snapshot],
      ['repair', needs.repair],
      ['feed', true],
    ],
    up: [
      ['read', needs.read && !isRevoked],
      ['journal', needs.journal && !isRevoked],
    ],
  };
  return wanted[lane].filter(([, isWanted]) => isWanted).map(([call]) => call);
}

/** One of these that is refused speaks for the others. */
const authenticated = ['feed', 'ack', 'journal', 'read'] as const;
