/** Which statement of the cloud is what, and whether it is really the cloud's. Runs in the replica's thread, never beside a door. */
import type * as z from 'zod';
import { commandStatement } from '#shared/contract/sync/command.ts';
import { enrolmentStatement } from '#shared/contract/sync/enrolment.ts';
import {
  feedBatchStatement,
  leaseStatement,
  repairStatement,
  snapshotChunkStatement,
  timeStatement,
  urgentStatement,
} from '#shared/contract/sync/feed.ts';
import { journalAckStatement } from '#shared/contract/sync/journal.ts';
import { keyCertificateStatement, statementType } from '#shared/contract/sync/statement.ts';
import { fromBase64url, publicSignKey, type Verified, verifyStatement } from '#shared/signed-statement.ts';

const statements = {
  /** Under the root's key; all others under the feed's. */
  certificate: { type: statementType.keyCertificate, schema: keyCertificateStatement },
  enrolment: { type: statementType.enrolment, schema: enrolmentStatement },
  time: { type: statementType.time, schema: timeStatement },
  lease: { type: statementType.lease, schema: leaseStatement },
  command: { type: statementType.command, schema: commandStatement },
  'journal-ack': { type: statementType.journalAck, schema: journalAckStatement },
  batch: { type: statementType.feedBatch, schema: feedBatchStatement },
  urgent: { type: statementType.urgent, schema: urgentStatement },
  repair: { type: statementType.repair, schema: repairStatement },
  chunk: { type: statementType.snapshotChunk, schema: snapshotChunkStatement },
} as const;

export type StatementKind = keyof typeof statements;
export type StatementOf<Kind extends StatementKind> = z.output<(typeof statements)[Kind]['schema']>;
/** Why a statement is nobody's word. */
export type Unproven = Extract<Verified<never>, { kind: 'rejected' }>['reason'];

/** @param key raw Ed25519 public key, base64url, of whoever must have said it. */
export async function verifyAs<Kind extends StatementKind>(
  kind: Kind,
  jws: string,
  key: string,
): Promise<Verified<StatementOf<Kind>>> {
  const { type, schema } = statements[kind];
  const verified = await verifyStatement(type, schema, jws, publicSignKey(fromBase64url(key)));
  // The schema is that of the kind; the compiler cannot see it through the table.
  return verified as Verified<StatementOf<Kind>>;
}
