/**
 * Answers a poll: what is new, what must be known before its turn, what to do now, and, to who stands at the head, contact.
 *
 * A poll for which there is nothing waits, and holds no connection meanwhile; what wakes it is only a hint, and what it is
 * told is read after the wake. Everything with authority is signed for this gateway and the epoch that its door process
 * named in a signed ack.
 */
import type * as z from 'zod';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { RequestRefused } from '#cloud/http/problem.ts';
import type { credentialRow } from '#shared/contract/replica-row.ts';
import type { feedQuery, feedReply, leaseStatement } from '#shared/contract/sync/feed.ts';
import { type StatementType, statementType } from '#shared/contract/sync/statement.ts';
import { signStatement } from '#shared/signed-statement.ts';
import type { GatewayCaller } from './gateway-caller.ts';
import { isServed } from './gateway-machine.ts';
import { judgePoll, type PollAnswer } from './judge-poll.ts';
import { knownKinds } from './known-kinds.ts';
import { offerCommands } from './offer-commands.ts';
import { type Batch, readBatch } from './read-batch.ts';
import { type GatewayStand, noteKinds } from './read-stand.ts';
import { readUrgent } from './read-urgent.ts';
import type { SyncParts } from './sync-parts.ts';

type Query = z.output<typeof feedQuery>;
type Reply = z.input<typeof feedReply>;

/** Statements as data, before they are signed: signing needs no transaction. */
interface Said {
  readonly head: number;
  readonly epoch: number;
  readonly batch?: Batch & { readonly from: number };
  readonly urgent?: readonly z.input<typeof credentialRow>[];
  readonly lease?: Pick<z.input<typeof leaseStatement>, 'head' | 'digest'>;
  readonly commands: readonly object[];
  readonly isSnapshotNeeded: boolean;
}

/** @param signal fires when the caller is gone. @throws RequestRefused, DatabaseFault. */
export async function pollFeed(
  parts: SyncParts,
  caller: GatewayCaller,
  query: Query,
  signal: AbortSignal,
): Promise<Reply> {
  const ticket = parts.waiters.enter(caller.gatewayId);
  if (ticket === undefined) throw new RequestRefused({ refused: 'SHUTTING_DOWN' }, 5);
  try {
    let said = await lookUp(parts, caller, query);
    if (!isNews(parts, said, query) && query.waitMs > 0) {
      // Looked up again however the wait ended: a gateway that was put out meanwhile gets no contact.
      if ((await ticket.wait(query.waitMs, signal)) !== 'gone') said = await lookUp(parts, caller, query);
    }
    return await replyOf(parts, caller, query, said);
  } finally {
    ticket.leave();
  }
}

function isNews(parts: SyncParts, { batch, commands, isSnapshotNeeded }: Said, { certificate }: Query): boolean {
  const isRotated = certificate > 0 && certificate !== parts.keys().terms.serial;
  return batch !== undefined || commands.length > 0 || isSnapshotNeeded || isRotated;
}

/** Who has everything and is asked nothing costs no transaction of its own. */
async function lookUp(parts: SyncParts, caller: GatewayCaller, query: Query): Promise<Said> {
  const stand = await parts.standing.standOf(caller);
  if (!isServed(stand.status)) throw new RequestRefused({ refused: 'GATEWAY_REVOKED' });
  if (stand.unseenMs === undefined || stand.kinds !== query.kinds) {
    await tenantTransaction(parts.database, caller.claims, (transaction) =>
      noteKinds(transaction, caller, query.kinds),
    );
  }
  const { head, acked } = stand;
  const answer = judgePoll({ query, acked, headSeq: head.seq, oldestSeq: head.retainedFrom + 1 });
  const isOrdered = stand.isOrdered && stand.status === 'active';
  if (answer.kind === 'feed' && answer.behind === 0 && !isOrdered) {
    return { ...sayStand(stand, query, answer.isAtHead), commands: [] };
  }
  return await tenantTransaction(parts.database, caller.claims, async (transaction) => {
    const commands = isOrdered ? await offerCommands(transaction, caller, query.nonce, parts.now()) : [];
    return { ...(await sayFeed(transaction, caller, { stand, query, answer })), commands };
  });
}

type SaidOfFeed = Omit<Said, 'commands'>;

function sayStand({ head, acked }: GatewayStand, { epoch }: Query, isAtHead: boolean): SaidOfFeed {
  const lease = isAtHead && acked ? { lease: { head: head.seq, digest: acked.digest } } : {};
  return { head: head.seq, epoch, ...lease, isSnapshotNeeded: false };
}

interface Facts {
  readonly stand: GatewayStand;
  readonly query: Query;
  readonly answer: PollAnswer;
}

async function sayFeed(
  transaction: TenantTransaction,
  caller: GatewayCaller,
  { stand, query, answer }: Facts,
): Promise<SaidOfFeed> {
  const { head, acked } = stand;
  const at = { head: head.seq, epoch: query.epoch };
  if (answer.kind === 'snapshot-needed') {
    // What it has goes on deciding until the snapshot is there: what restricts goes first.
    const isOfEpoch = acked !== undefined && query.epoch === acked.epoch && query.epoch > 0 && query.after < head.seq;
    const urgent = isOfEpoch ? await readUrgent(transaction, caller, query.after) : [];
    return { ...at, isSnapshotNeeded: true, ...(urgent.length > 0 && { urgent }) };
  }
  if (answer.behind === 0) return sayStand(stand, query, answer.isAtHead);
  const kinds = knownKinds(query.kinds);
  const batch = await readBatch(transaction, caller, { from: answer.from, kinds });
  if (batch.to === answer.from && batch.unsupported === undefined) return { ...at, isSnapshotNeeded: true };
  const isFar = batch.to < head.seq;
  const urgent = isFar ? await readUrgent(transaction, caller, answer.from) : [];
  return {
    ...at,
    batch: { ...batch, from: answer.from },
    ...(urgent.length > 0 && { urgent }),
    isSnapshotNeeded: false,
  };
}

async function replyOf(parts: SyncParts, caller: GatewayCaller, query: Query, said: Said): Promise<Reply> {
  const keys = parts.keys();
  const { head, epoch, batch, urgent, lease } = said;
  const base = { gateway: caller.gatewayId, issuedAt: parts.now() };
  const sign = (type: StatementType, value: object): Promise<string> =>
    signStatement(type, { ...base, ...value }, keys.signKey);
  return {
    head,
    snapshotNeeded: said.isSnapshotNeeded,
    commands: await Promise.all(said.commands.map((command) => sign(statementType.command, command))),
    ...(batch && { batch: await sign(statementType.feedBatch, { epoch, head, ...batch }) }),
    ...(urgent && { urgent: await sign(statementType.urgent, { epoch, head, credentials: urgent }) }),
    ...(lease && { lease: await sign(statementType.lease, { epoch, nonce: query.nonce, ...lease }) }),
    ...(query.certificate !== keys.terms.serial && { certificate: keys.certificate }),
  };
}
