/**
 * Takes the door process's signed word on where it stands: the only source of "effective since".
 *
 * Guarantees: an ack counts once, in the order of its boot; what it proves, what it withdraws and the alarms it raises are
 * one transaction. The time is the door process's where it knows it, never later than now.
 */
import { sql } from 'kysely';
import type * as z from 'zod';
import { prepared } from '#cloud/database/prepared.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Code } from '#shared/code.ts';
import { type FeedAck, type feedAckReply, feedAckStatement, type GatewayHealth } from '#shared/contract/sync/feed.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { rowKinds } from '#shared/replica-digest.ts';
import { publicSignKey, signStatement, verifyStatement } from '#shared/signed-statement.ts';
import { headDigest, readFeedHead, writeFeedHead } from './feed-head.ts';
import { lockGateway } from './feed-lock.ts';
import type { GatewayCaller } from './gateway-caller.ts';
import { type AckJudgement, judgeAck } from './judge-ack.ts';
import { knownKinds } from './known-kinds.ts';
import { clearAlarm, raiseAlarm } from './raise-alarm.ts';
import { type GatewayStand, readStand } from './read-stand.ts';
import type { SyncParts } from './sync-parts.ts';

type Counted = Extract<AckJudgement, { kind: 'count' }>;
type Reply = z.input<typeof feedAckReply>;
export type AckAnswer = Reply | { readonly refused: Code; readonly reason: string };

export async function takeAck(
  parts: SyncParts,
  caller: GatewayCaller,
  { ack: jws, health }: { readonly ack: string; readonly health?: GatewayHealth | undefined },
): Promise<AckAnswer> {
  const key = publicSignKey(caller.doorSignKey);
  const verified = await verifyStatement(statementType.feedAck, feedAckStatement, jws, key);
  if (verified.kind === 'rejected') return { refused: 'STATEMENT_INVALID', reason: verified.reason };
  const ack = verified.value;
  const judged = await tenantTransaction(parts.database, caller.claims, async (transaction) => {
    await lockGateway(transaction, caller.gatewayId, 'ack');
    if (health !== undefined) await noteHealth(transaction, caller, health);
    return await countAck(transaction, caller, ack);
  });
  if (judged.kind === 'refused') return { refused: 'STATEMENT_INVALID', reason: judged.reason };
  if (judged.kind === 'noop') return { status: 'noop' };
  if (judged.compared === 'differs') return { status: 'differs' };
  if (!judged.isContact) return { status: 'applied' };
  const { gateway, epoch, nonce, cursor: head, digest } = ack;
  const lease = { gateway, epoch, nonce, head, digest, issuedAt: parts.now() };
  return { status: 'applied', lease: await signStatement(statementType.lease, lease, parts.keys().signKey) };
}

type Judged = Exclude<AckJudgement, Counted> | (Counted & { readonly isContact: boolean });

async function countAck(transaction: TenantTransaction, caller: GatewayCaller, ack: FeedAck): Promise<Judged> {
  let judged = await judge(transaction, caller, ack);
  if (judged.kind === 'count' && judged.raiseHeadTo !== undefined) {
    // The head moves only under its lock, and may have moved before we had it.
    await lockGateway(transaction, caller.gatewayId, 'feed');
    judged = await judge(transaction, caller, ack);
  }
  if (judged.kind === 'count') await writeAck(transaction, caller, { ack, judged });
  return judged;
}

async function judge(transaction: TenantTransaction, caller: GatewayCaller, ack: FeedAck): Promise<Judged> {
  const stand = await readStand(transaction, caller);
  const { seq } = stand.head;
  const kinds = kindsOf(stand);
  const facts = {
    gateway: caller.gatewayId,
    last: stand.acked,
    heardOfBoot: await heardOf(transaction, caller, ack.bootId),
    head: { seq, digest: headDigest(stand.head.sums, kinds) },
    // What is kept of a place is over all kinds: a gateway that lacks one cannot be compared there.
    placed: kinds.size < rowKinds.length ? undefined : await placedAt(transaction, caller, ack.cursor),
  };
  const judged = judgeAck(facts, ack);
  if (judged.kind !== 'count') return judged;
  const isContact = judged.compared === 'same' && ack.cursor === Math.max(seq, judged.raiseHeadTo ?? 0);
  return { ...judged, isContact };
}

/** What the feed says of a place. */
async function placedAt(transaction: TenantTransaction, caller: GatewayCaller, seq: number): Promise<string> {
  const found = await sql<{ end_digest: string }>`${prepared}select end_digest from feed_group
    where facility_id = ${caller.facilityId} and gateway_id = ${caller.gatewayId} and last_seq = ${seq}`.execute(
    transaction,
  );
  return found.rows[0]?.end_digest ?? 'no-end';
}

/** Before its first poll it has declared nothing: then all that this build knows is compared. */
const kindsOf = ({ kinds }: GatewayStand): ReadonlySet<string> =>
  kinds === '' ? new Set(rowKinds) : knownKinds(kinds);

async function heardOf(transaction: TenantTransaction, caller: GatewayCaller, bootId: string): Promise<number> {
  const found = await sql<{ boot_count: number }>`${prepared}select boot_count from feed_ack_boot
    where facility_id = ${caller.facilityId} and gateway_id = ${caller.gatewayId} and boot_id = ${bootId}`.execute(
    transaction,
  );
  return found.rows[0]?.boot_count ?? 0;
}

interface Counting {
  readonly ack: FeedAck;
  readonly judged: Counted;
}

async function writeAck(transaction: TenantTransaction, caller: GatewayCaller, counting: Counting): Promise<void> {
  const { facilityId, gatewayId } = caller;
  const { ack, judged } = counting;
  await sql`${prepared}insert into feed_ack_boot (facility_id, gateway_id, boot_id, boot_count)
    values (${facilityId}, ${gatewayId}, ${ack.bootId}, ${ack.count})
    on conflict (facility_id, gateway_id, boot_id) do update set boot_count = excluded.boot_count, heard_at = now()`.execute(
    transaction,
  );
  await sql`${prepared}insert into feed_ack (facility_id, gateway_id, epoch, cursor_seq, digest, is_same, boot_id, boot_count, said_at)
    values (${facilityId}, ${gatewayId}, ${ack.epoch}, ${ack.cursor}, ${ack.digest}, ${judged.compared === 'same'},
      ${ack.bootId}, ${ack.count}, ${saidAt(ack)})
    on conflict (facility_id, gateway_id) do update set epoch = excluded.epoch, cursor_seq = excluded.cursor_seq,
      digest = excluded.digest, is_same = excluded.is_same, boot_id = excluded.boot_id,
      boot_count = excluded.boot_count, said_at = excluded.said_at, received_at = now()`.execute(transaction);
  await moveEffective(transaction, caller, counting);
  await sayAlarms(transaction, caller, judged);
}

const saidAt = ({ at }: FeedAck) => (at === null ? sql`now()` : sql`least(now(), to_timestamp(${at}::float8 / 1000))`);

async function moveEffective(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: GatewayCaller,
  { ack, judged }: Counting,
): Promise<void> {
  if (judged.withdrawAfter !== undefined) {
    await sql`delete from feed_effective where facility_id = ${facilityId} and gateway_id = ${gatewayId}
      and cursor_seq > ${judged.withdrawAfter}`.execute(transaction);
  }
  if (judged.effectiveTo > 0) {
    await sql`${prepared}insert into feed_effective (facility_id, gateway_id, cursor_seq, previous_seq, effective_at)
      select ${facilityId}, ${gatewayId}, ${judged.effectiveTo}, coalesce(max(cursor_seq), 0), ${saidAt(ack)}
      from feed_effective where facility_id = ${facilityId} and gateway_id = ${gatewayId}
      having coalesce(max(cursor_seq), 0) < ${judged.effectiveTo}`.execute(transaction);
  }
}

async function sayAlarms(transaction: TenantTransaction, caller: GatewayCaller, judged: Counted): Promise<void> {
  if (judged.alarm === 'regressed') await raiseAlarm(transaction, caller, { code: 'GATEWAY_REGRESSED' });
  if (judged.alarm === 'ahead') await raiseAlarm(transaction, caller, { code: 'CLOUD_REGRESSED' });
  if (judged.compared === 'differs' || judged.compared === 'strayed') {
    await raiseAlarm(transaction, caller, { code: 'GATEWAY_DIFFERS' });
  }
  if (judged.compared === 'same') await clearAlarm(transaction, caller, { code: 'GATEWAY_DIFFERS' });
  if (judged.raiseHeadTo !== undefined) await raiseHead(transaction, caller, judged.raiseHeadTo);
}

/** Places that the gateway has seen are never given again: who is there takes a snapshot. The caller holds the lock. */
async function raiseHead(transaction: TenantTransaction, caller: GatewayCaller, seq: number): Promise<void> {
  const { facilityId, gatewayId } = caller;
  const head = await readFeedHead(transaction, facilityId, gatewayId);
  await writeFeedHead(transaction, facilityId, gatewayId, { ...head, seq, retainedFrom: seq });
}

async function noteHealth(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: GatewayCaller,
  health: GatewayHealth,
): Promise<void> {
  await sql`insert into gateway_health (facility_id, gateway_id, report, reported_at)
    values (${facilityId}, ${gatewayId}, ${JSON.stringify(health)}::jsonb, now())
    on conflict (facility_id, gateway_id) do update set last_seen_at = now(), report = excluded.report,
      reported_at = now()`.execute(transaction);
}
