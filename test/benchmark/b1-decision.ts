/**
 * B1: a whole decision, from the card's bits to its code, beside the bare lookup under it and beside other ways to decide.
 *
 * The bare lookup is what a plain program would do: one prepared statement by itself, the row as an object. The decision holds
 * one snapshot for many, which is why it can cost so little more. Contenders take turns in one process, so that the machine's noise falls on all alike; of several rounds the best counts for
 * each, since a round in which another process took the core says nothing about any of them. All agree with the oracle
 * on every question they were asked, or there is no figure.
 */

import { scryptSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decideAccess } from '#gateway/door/decide-access.ts';
import { type FactSources, gatherFacts } from '#gateway/door/gather-facts.ts';
import { buildSnapshot, streamOf } from '#gateway/replica/build-snapshot.ts';
import { createPinHasher } from '#gateway/replica/pin-hasher.ts';
import { replicaPath, switchPointer } from '#gateway/replica/replica-folder.ts';
import { ReplicaReader } from '#gateway/replica/replica-reader.ts';
import { createRowCodes } from '#gateway/replica/row-mac.ts';
import { openDatabase } from '#gateway/store/open-database.ts';
import { type CredentialRow, credentialRow, grantRow } from '#shared/contract/replica-row.ts';
import { createCredentialLookup, pinSlowHash } from '#shared/credential-lookup.ts';
import { wallMs } from '#shared/instant.ts';
import { slotCount } from '#shared/replica-digest.ts';
import { sampleFacility, sampleLookup, testLookupKey, testRowKey } from '../fakes/sample-facility.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import { createCasbin, createCedar, type Peer } from './b1-peers.ts';
import type { BenchRow } from './bench-row.ts';
import { type Contender, measureInTurns, type Timing } from './measure.ts';
import { liveStateOf, Oracle, type Question, randomQuestion, requestOf } from './oracle.ts';

const doors = 100;
const questionCount = 100_000;
/** The slow peers are asked fewer: casbin takes the better part of a millisecond for each. */
const casbinQuestions = 5_000;
const casbinActs = 1_500;
const rounds = 5;
const actsPerRound = 10_000;
const seed = 20_260_603;
const firstDay = Date.UTC(2026, 5, 3);
const fourDaysMs = 4 * 86_400_000;

interface Stage {
  readonly reader: ReplicaReader;
  readonly oracle: Oracle;
  readonly questions: readonly Question[];
  /** Decides a question on the real replica. @returns the code. */
  readonly decide: (index: number) => string;
  readonly bare: (index: number) => unknown;
  readonly close: () => void;
}

export async function run(): Promise<readonly BenchRow[]> {
  const small = await withStage(10_000, compareSmall);
  const large = await withStage(240_000, async (stage) => cardRows(stage, 240_000));
  return [...small, ...large, await comparePin()];
}

async function compareSmall(stage: Stage): Promise<readonly BenchRow[]> {
  const rows = cardRows(stage, 10_000);
  const { questions, oracle } = stage;
  const cedar = createCedar(oracle);
  const casbin = await createCasbin(sampleFacility(10_000, doors), oracle);
  requireAgreement('cedar', cedar, oracle, questions);
  requireAgreement('casbin', casbin, oracle, questions.slice(0, casbinQuestions));
  const at = (index: number): Question => questions[index % questions.length] as Question;
  const ours = { name: 'ours', act: (index: number) => stage.decide(index % questions.length) };
  const asked = (peer: Peer) => (index: number) => peer(at(index));
  const [besideCedar, cedarTiming] = best([ours, { name: 'cedar', act: asked(cedar) }], actsPerRound);
  const [besideCasbin, casbinTiming] = best([ours, { name: 'casbin', act: asked(casbin) }], casbinActs);
  return [
    ...rows,
    peerRow('cedar, one parsed policy, rows in memory', {
      ours: besideCedar,
      peer: cedarTiming,
      bar: 0.7,
      asked: questionCount,
    }),
    peerRow('casbin, one enforcer per door', {
      ours: besideCasbin,
      peer: casbinTiming,
      bar: 1 / 7,
      asked: casbinQuestions,
    }),
  ];
}

async function withStage<Result>(cards: number, use: (stage: Stage) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-b1-'));
  try {
    const stage = await setStage(folder, cards);
    try {
      return await use(stage);
    } finally {
      stage.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function setStage(folder: string, cards: number): Promise<Stage> {
  const rows = sampleFacility(cards, doors);
  const head = await buildSnapshot({
    folder,
    epoch: 1,
    cursor: 0,
    rows: streamOf(rows),
    codes: createRowCodes(testRowKey),
  });
  switchPointer(folder, 1);
  const reader = new ReplicaReader({ folder, rowKey: testRowKey });
  reader.reopen(head, wallMs(firstDay));
  // As after the check in the background, which a gateway has behind it some seconds after its start.
  reader.acceptRight(
    1,
    Array.from({ length: slotCount }, (_, slot) => slot),
  );
  const random = seededRandom(seed);
  const bounds = { cards, doors, from: firstDay, until: firstDay + fourDaysMs };
  const questions = Array.from({ length: questionCount }, () => randomQuestion(random, bounds));
  const requests = questions.map(requestOf);
  let current = questions[0] as Question;
  const sources: FactSources = {
    replica: reader,
    lookup: createCredentialLookup(testLookupKey),
    pins: { hash: () => 'busy', warm: () => {}, close: async () => {} },
    live: liveStateOf(() => current),
  };
  const decide = (index: number): string => {
    current = questions[index] as Question;
    const request = requests[index] as ReturnType<typeof requestOf>;
    const facts = gatherFacts(request, sources);
    if (facts instanceof Promise) throw new Error('a card waits for nothing');
    return decideAccess(request, facts).code;
  };
  const oracle = new Oracle(rows);
  for (const [index, question] of questions.entries())
    requireSame('ours', question, decide(index), oracle.decide(question));

  const store = openDatabase({ path: replicaPath(folder, 1), mode: 'read' });
  store.pragma('cache_size = -6144');
  const lookup = store.prepare('SELECT * FROM credential WHERE lookup = ?');
  // Other cards than the decision's at the same moment, so that neither warms the other's pages.
  const keys = questions.map(({ card }) => Buffer.from(sampleLookup(card), 'hex')).reverse();
  const close = () => {
    reader.close();
    store.close();
  };
  return { reader, oracle, questions, decide, bare: (index) => lookup.get(keys[index]), close };
}

function cardRows({ decide, bare }: Stage, cards: number): readonly BenchRow[] {
  const [full, under] = best(
    [
      { name: 'decision', act: (index) => decide(index % questionCount) },
      { name: 'bare lookup', act: (index) => bare(index % questionCount) },
    ],
    actsPerRound,
  );
  const what = `card decision, ${cards.toLocaleString('en')} credentials × ${doors} doors, agrees with the oracle on ${questionCount.toLocaleString('en')}`;
  const row = (quantile: 'p50' | 'p99', figure: number, peer: number, bar: number): BenchRow => ({
    id: 'B1',
    what: `${what}: ${quantile}`,
    figure: `${figure.toFixed(1)} µs`,
    peer: `bare prepared lookup ${peer.toFixed(1)} µs`,
    ratio: figure / peer,
    bar: `≤ ${bar}`,
    ok: figure / peer <= bar,
  });
  return [row('p50', full.p50Us, under.p50Us, 4), row('p99', full.p99Us, under.p99Us, 6)];
}

interface PeerFigures {
  readonly ours: Timing;
  readonly peer: Timing;
  readonly bar: number;
  readonly asked: number;
}

function peerRow(name: string, { ours, peer, bar, asked }: PeerFigures): BenchRow {
  const ratio = ours.p50Us / peer.p50Us;
  return {
    id: 'B1',
    what: `card decision, 10,000 credentials × ${doors} doors: p50, peer agrees on ${asked.toLocaleString('en')}`,
    figure: `${ours.p50Us.toFixed(1)} µs`,
    peer: `${name} ${peer.p50Us.toFixed(1)} µs`,
    ratio,
    bar: `≤ ${bar.toFixed(2)}`,
    ok: ratio <= bar,
  };
}

async function comparePin(): Promise<BenchRow> {
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-b1-pin-'));
  const pins = createPinHasher(new URL('../../gateway/replica/pin-thread.ts', import.meta.url));
  const reader = new ReplicaReader({ folder, rowKey: testRowKey });
  try {
    const facility = sampleFacility(1_000, doors);
    const lookup = createCredentialLookup(testLookupKey);
    const hash = (digits: string) => {
      const { N, r, p, bytes } = pinSlowHash;
      return scryptSync(digits, Buffer.from(facility.facility.pinSalt, 'hex'), bytes, { N, r, p });
    };
    const pin: CredentialRow = credentialRow.parse({
      id: 'pin',
      holder: 'h0',
      kind: 'pin',
      lookup: lookup.ofPin(hash('482913')),
      status: 'issued',
      leaseMs: 'unlimited',
      version: 1,
    });
    const grant = grantRow.parse({ grant: 'pins', credential: 'pin', door: 'd0', version: 1 });
    const rows = {
      ...facility,
      credentials: [...facility.credentials, pin],
      grants: [...facility.grants, grant],
    };
    const head = await buildSnapshot({
      folder,
      epoch: 1,
      cursor: 0,
      rows: streamOf(rows),
      codes: createRowCodes(testRowKey),
    });
    switchPointer(folder, 1);
    reader.reopen(head, wallMs(firstDay));
    const question: Question = { card: 0, door: 0, now: firstDay, contactAgeMs: 0 };
    const sources: FactSources = { replica: reader, lookup, pins, live: liveStateOf(() => question) };
    const request = { ...requestOf(question), presented: { kind: 'pin', digits: '482913' } as const };
    const decide = async () => {
      const { code } = decideAccess(request, await gatherFacts(request, sources));
      if (code !== 'GRANTED') throw new Error(`the PIN was refused: ${code}`);
    };
    const [ours, alone] = await bestOfPairs(decide, () => hash('482913'));
    return {
      id: 'B1',
      what: 'PIN decision, from the last key: p50',
      figure: `${(ours / 1_000).toFixed(1)} ms`,
      peer: `scrypt alone ${(alone / 1_000).toFixed(1)} ms`,
      ratio: ours / alone,
      bar: '≤ 1.2',
      ok: ours / alone <= 1.2,
    };
  } finally {
    await pins.close();
    reader.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the median time of each, µs, in turns; of several rounds, the best of each. */
async function bestOfPairs(one: () => Promise<unknown>, other: () => unknown): Promise<readonly [number, number]> {
  const timed = async (act: () => unknown): Promise<number> => {
    const began = process.hrtime.bigint();
    await act();
    return Number(process.hrtime.bigint() - began) / 1_000;
  };
  const median = (list: readonly number[]) => [...list].sort((a, b) => a - b)[list.length >> 1] ?? 0;
  const bests: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // The first starts the thread.
  await one();
  for (let round = 0; round < rounds; round += 1) {
    const times: [number[], number[]] = [[], []];
    for (let turn = 0; turn < 9; turn += 1) {
      times[0].push(await timed(one));
      times[1].push(await timed(other));
    }
    bests[0] = Math.min(bests[0], median(times[0]));
    bests[1] = Math.min(bests[1], median(times[1]));
  }
  return bests;
}

/** The best round of each contender, by quantile. */
function best<const Contenders extends readonly Contender[]>(
  contenders: Contenders,
  acts: number,
): { readonly [At in keyof Contenders]: Timing } {
  const all = Array.from({ length: rounds }, () => measureInTurns(contenders, acts));
  const bests = contenders.map(({ name }, at) => {
    const timings = all.map((round) => round[at] as Timing);
    const least = (pick: (timing: Timing) => number) => Math.min(...timings.map(pick));
    return { name, p50Us: least(({ p50Us }) => p50Us), p99Us: least(({ p99Us }) => p99Us) };
  });
  return bests as { readonly [At in keyof Contenders]: Timing };
}

function requireAgreement(name: string, peer: Peer, oracle: Oracle, questions: readonly Question[]): void {
  for (const question of questions) requireSame(name, question, peer(question), oracle.decide(question) === 'GRANTED');
}

function requireSame(name: string, question: Question, answer: unknown, right: unknown): void {
  if (answer !== right)
    throw new Error(
      `${name} says ${String(answer)}, the oracle ${String(right)}: seed ${seed}, ${JSON.stringify(question)}`,
    );
}

if (import.meta.main) for (const row of await run()) console.log(row);
