/**
 * What passes between the main thread and the journal thread: plain data, cloned; only the claims are shared memory.
 */

import type { SignedHead } from '#shared/signed-head.ts';
import type { SiteChange, SiteRows } from '../site/site-rows.ts';
import type { StoreFaultCode } from '../store/store-fault.ts';
import type { Claims } from './claims.ts';
import type { JournalCondition } from './condition.ts';
import type { Entry } from './entry.ts';
import type { OpenRequest } from './interrupted.ts';
import type { JournalState } from './journal.ts';
import type { StoresReport } from './open-stores.ts';
import type { ClockStamp, PreparedDraft, PreparedState } from './prepared-entry.ts';
import type { PersonalValues } from './read-entries.ts';
import type { UploadFrom, UploadPage } from './read-upload.ts';

export interface JournalThreadOptions {
  /** Holds journal.db, site.db and the reserve; must exist. */
  readonly directory: string;
  /** 32 bytes. */
  readonly masterKey: Uint8Array;
  /** Of this boot of the machine, as the kernel names it. */
  readonly bootId: string;
  /** How large journal.db may grow, bytes of rows and their pages. */
  readonly budgetBytes: number;
  /** What gives way at the budget while the cloud has not answered: the oldest entries, or everything new. */
  readonly atBudget: 'overwrite' | 'refuse';
  /** Kept free for the moment the disk is full, bytes, a multiple of 64 KiB. */
  readonly reserveBytes: number;
}

/** The first message to the thread: what to open. */
export interface JournalOrder {
  readonly options: JournalThreadOptions;
  readonly claims: Claims;
}

/** One hand-over: all of it is durable, or none of it is there. */
export interface Operation {
  readonly op: number;
  readonly drafts: readonly PreparedDraft[];
  readonly state: readonly PreparedState[];
}

export interface JournalExtent {
  readonly firstEpoch: number;
  /** Raw Ed25519 key of the first head in this file. */
  readonly firstKey: Uint8Array;
  readonly acked: { readonly epoch: number; readonly seq: number };
  readonly tip: { readonly epoch: number; readonly seq: number };
}

/** Each question with the shape of its answer. */
export interface JournalQuestions {
  'load-state': { ask: object; answer: readonly PreparedState[] };
  read: {
    ask: { readonly epoch?: number; readonly afterSeq: number; readonly limit: number };
    answer: readonly Entry[];
  };
  'read-newest': { ask: { readonly count: number }; answer: readonly Entry[] };
  'read-personal': { ask: { readonly epoch: number; readonly seq: number }; answer: PersonalValues | undefined };
  'erase-personal': { ask: { readonly epoch: number; readonly seqs: readonly number[] }; answer: number };
  'open-requests': { ask: object; answer: readonly OpenRequest[] };
  'recent-commands': { ask: object; answer: readonly string[] };
  'sign-head': { ask: object; answer: SignedHead | undefined };
  heads: { ask: { readonly afterPlace: number; readonly limit: number }; answer: readonly SignedHead[] };
  acknowledge: { ask: { readonly epoch: number; readonly seq: number; readonly hash: string }; answer: boolean };
  /** What the cloud has answered for, and how far the history goes. */
  extent: { ask: object; answer: JournalExtent };
  upload: { ask: { readonly after: UploadFrom }; answer: UploadPage | undefined };
  'hash-at': { ask: { readonly epoch: number; readonly seq: number }; answer: string | undefined };
  /** The key that signs the first head after a place; raw. */
  'key-after': { ask: { readonly epoch: number; readonly seq: number }; answer: Uint8Array };
  prune: { ask: { readonly before: number }; answer: boolean };
  'begin-epoch': {
    ask: { readonly known: { readonly epoch: number; readonly seq: number }; readonly stamp: ClockStamp };
    answer: number;
  };
  'site-rows': { ask: object; answer: SiteRows };
  'site-change': { ask: { readonly change: SiteChange }; answer: true };
  checkpoint: { ask: object; answer: true };
  'written-bytes': { ask: object; answer: number | undefined };
  close: { ask: object; answer: true };
}

export type QuestionKind = keyof JournalQuestions;
export type Question<Kind extends QuestionKind = QuestionKind> = {
  [K in Kind]: { readonly kind: K } & JournalQuestions[K]['ask'];
}[Kind];
export type AnswerTo<Kind extends QuestionKind> = JournalQuestions[Kind]['answer'];

export type ToThread =
  | { readonly kind: 'commit'; readonly operations: readonly Operation[] }
  | { readonly kind: 'follow'; readonly isOn: boolean }
  | { readonly kind: 'ask'; readonly ask: number; readonly question: Question };

export interface CommittedOperation {
  readonly op: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

export type FromThread =
  | { readonly kind: 'opened'; readonly report: StoresReport; readonly condition: JournalCondition }
  | { readonly kind: 'not-opened'; readonly fault: FaultMessage }
  | { readonly kind: 'committed'; readonly done: readonly CommittedOperation[]; readonly skipped: readonly number[] }
  | { readonly kind: 'refused'; readonly ops: readonly number[]; readonly state: JournalState }
  | { readonly kind: 'condition'; readonly condition: JournalCondition }
  /** A journal or site was lost while running, and begun anew. */
  | { readonly kind: 'reopened'; readonly report: StoresReport }
  | { readonly kind: 'entries'; readonly entries: readonly Entry[] }
  | { readonly kind: 'answer'; readonly ask: number; readonly value: unknown }
  | { readonly kind: 'fault'; readonly ask: number; readonly fault: FaultMessage };

export interface FaultMessage {
  readonly code: StoreFaultCode;
  readonly path: string;
  readonly message: string;
}
