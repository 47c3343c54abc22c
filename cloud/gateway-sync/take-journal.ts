/**
 * Takes a piece of a gateway's history: verified whole, stored whole, and answered with a signed ack, by which alone the
 * door process may let it go.
 *
 * Guarantees: one piece at a time for each gateway; entries, heads, gap, the place reached and what is to be processed
 * commit together; the same piece again changes nothing and gets the same ack; a second history under numbers that are
 * taken is kept beside the first and raises the alarm.
 */
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { runVerb } from '#cloud/database/verb.ts';
import type { Code } from '#shared/code.ts';
import {
  type JournalUpload,
  journalBeginningStatement,
  journalGapStatement,
  type UploadedHead,
} from '#shared/contract/sync/journal.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { placeOf } from '#shared/journal-chain.ts';
import { isHeadSignedBy } from '#shared/signed-head.ts';
import { fromBase64url, publicSignKey, signStatement, verifyStatement } from '#shared/signed-statement.ts';
import { lockGateway } from './feed-lock.ts';
import type { GatewayCaller } from './gateway-caller.ts';
import { gatewayMachine } from './gateway-machine.ts';
import { type JournalStand, judgeUpload, type UploadFacts, type UploadJudgement } from './judge-upload.ts';
import { raiseAlarm } from './raise-alarm.ts';
import { readJournalFacts } from './read-journal-facts.ts';
import { storeFork, storeUpload } from './store-upload.ts';
import type { SyncParts } from './sync-parts.ts';

/** `stand` is signed into the ack that goes with either answer; `reason` is what is counted where it is not the code. */
export type JournalAnswer =
  | { readonly kind: 'acked'; readonly ack: string }
  | {
      readonly kind: 'conflict';
      readonly code: Code;
      readonly stand: JournalStand;
      readonly ack: string;
      readonly reason?: string;
    }
  | { readonly kind: 'refused'; readonly reason: string };

export async function takeJournal(
  parts: SyncParts,
  caller: GatewayCaller,
  upload: JournalUpload,
): Promise<JournalAnswer> {
  const said = await verifyStatements(caller, upload);
  if (said === undefined) return { kind: 'refused', reason: 'statement' };
  const judged = await tenantTransaction(parts.database, caller.claims, async (transaction) => {
    await lockGateway(transaction, caller.gatewayId, 'journal');
    const facts = { ...(await readJournalFacts(transaction, caller, upload)), ...said };
    const judgement = judgeUpload(facts, upload, isSigned);
    await carryOut(transaction, caller, { upload, gap: said.gap, judgement });
    return { judgement, stand: judgement.kind === 'store' ? judgement.stand : facts.stand };
  });
  const { judgement, stand } = judged;
  // Who signs with a key that was used up lost the head that names the next: by the ack it learns to begin anew.
  const isHeadForged = judgement.kind === 'refused' && judgement.reason === 'head-forged';
  if (judgement.kind === 'refused' && !isHeadForged) return { kind: 'refused', reason: judgement.reason };
  const ack = await signAck(parts, caller, stand);
  if (isHeadForged) return { kind: 'conflict', code: 'JOURNAL_FORKED', stand, ack, reason: 'head-forged' };
  if (judgement.kind === 'gap') return { kind: 'conflict', code: 'JOURNAL_GAP', stand, ack };
  if (judgement.kind === 'forked') return { kind: 'conflict', code: 'JOURNAL_FORKED', stand, ack };
  return { kind: 'acked', ack };
}

const noHash = '0'.repeat(64);

function signAck(parts: SyncParts, caller: GatewayCaller, stand: JournalStand): Promise<string> {
  const { epoch, seq, hash = noHash, nextKey } = stand;
  const ack = { gateway: caller.gatewayId, epoch, seq, hash, nextKey, at: parts.now() };
  return signStatement(statementType.journalAck, ack, parts.keys().signKey);
}

type Said = Pick<UploadFacts, 'begins' | 'gap'>;

/** What only the door process's identity can say. @returns `undefined` where one of the two is not its word. */
async function verifyStatements(caller: GatewayCaller, upload: JournalUpload): Promise<Said | undefined> {
  const key = publicSignKey(caller.doorSignKey);
  const begins =
    upload.begins === undefined
      ? undefined
      : await verifyStatement(statementType.journalBeginning, journalBeginningStatement, upload.begins.proof, key);
  const gap =
    upload.gap === undefined
      ? undefined
      : await verifyStatement(statementType.journalGap, journalGapStatement, upload.gap, key);
  if (begins?.kind === 'rejected' || gap?.kind === 'rejected') return undefined;
  if (begins && upload.begins?.firstKey !== begins.value.firstKey) return undefined;
  return { begins: begins?.value, gap: gap?.value };
}

function isSigned(head: UploadedHead, key: string): boolean {
  const { epoch, seq, at, hash, nextKey, signature } = head;
  const signed = {
    place: placeOf(epoch, seq),
    at,
    hash: Buffer.from(hash, 'hex'),
    nextKey: fromBase64url(nextKey),
    signature: fromBase64url(signature),
  };
  return isHeadSignedBy(signed, fromBase64url(key));
}

async function carryOut(
  transaction: TenantTransaction,
  caller: GatewayCaller,
  {
    upload,
    gap,
    judgement,
  }: Pick<Said, 'gap'> & { readonly upload: JournalUpload; readonly judgement: UploadJudgement },
): Promise<void> {
  if (judgement.kind === 'store') {
    await storeUpload(transaction, caller, { upload, gap, stored: judgement });
    if (judgement.gap) await raiseAlarm(transaction, caller, lossOf(upload.epoch, judgement.gap));
  }
  if (judgement.kind === 'forked') {
    await storeFork(transaction, caller, { epoch: upload.epoch, fork: judgement });
    await quarantine(transaction, caller, { epoch: upload.epoch, seq: judgement.seq });
  }
}

const lossOf = (epoch: number, { fromSeq, toSeq }: { readonly fromSeq: number; readonly toSeq: number }) =>
  ({ code: 'JOURNAL_MISSING', subject: `${epoch}.${fromSeq}`, detail: { epoch, fromSeq, toSeq } }) as const;

async function quarantine(
  transaction: TenantTransaction,
  caller: GatewayCaller,
  at: { readonly epoch: number; readonly seq: number },
): Promise<void> {
  await raiseAlarm(transaction, caller, { code: 'GATEWAY_FORKED', detail: at });
  await runVerb(transaction, {
    name: 'gateway.quarantine',
    machine: gatewayMachine,
    event: 'quarantine',
    table: 'gateway',
    facilityId: caller.facilityId,
    id: caller.gatewayId,
    absent: 'NOT_FOUND',
    conditions: () => ({ isSameFingerprint: false }),
  });
}
