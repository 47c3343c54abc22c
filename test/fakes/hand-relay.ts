/** A relay worked by hand: a test that is edge, over the socket that edge has, with nothing but what edge knows. */
import { join } from 'node:path';
import { type ControlClient, connectControl } from '#gateway/control/edge-side.ts';
import type { AskReply, DeliverReply, DoorNeeds, EnrolBeginReply, Questions } from '#gateway/control/sync-replies.ts';
import { enrolmentProofStatement } from '#shared/contract/sync/enrolment.ts';
import { feedAckStatement } from '#shared/contract/sync/feed.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { fromBase64url, publicSignKey, toBase64url, verifyStatement } from '#shared/signed-statement.ts';
import type { SigningCloud } from './signing-cloud.ts';

type Delivered = Parameters<HandRelay['deliver']>[0];

export interface DoorKeys {
  readonly doorSignKey: string;
  readonly doorSealKey: string;
}

export class HandRelay {
  readonly client: ControlClient;

  constructor(client: ControlClient) {
    this.client = client;
  }

  static async open(runDir: string): Promise<HandRelay> {
    return new HandRelay(await connectControl(join(runDir, 'edge.sock')));
  }

  async ask<Of extends keyof Questions>(call: Of, entries = 500): Promise<Questions[Of]> {
    return ((await this.client.call('sync-ask', { call, entries })) as AskReply<Of>).question;
  }

  async deliver(
    statement: 'batch' | 'urgent' | 'repair' | 'chunk' | 'lease' | 'time' | 'command' | 'certificate' | 'journal-ack',
    jws: string,
  ): Promise<DeliverReply> {
    return (await this.client.call('sync-deliver', { statement, jws }, { deadlineMs: 60_000 })) as DeliverReply;
  }

  /** Outcome and reason in one word, for comparing. */
  async outcome(statement: Delivered, jws: string): Promise<string> {
    const { outcome, reason } = await this.deliver(statement, jws);
    return reason === undefined ? outcome : `${outcome}: ${reason}`;
  }

  async told(news: Parameters<ControlClient['call']>[1]): Promise<DoorNeeds> {
    return (await this.client.call('sync-told', news as never)) as DoorNeeds;
  }

  close(): void {
    this.client.close();
  }
}

/** Joins the gateway behind `admin` to a cloud, confirmed at once. @returns the door process's public keys. */
export async function enrol(admin: ControlClient, cloud: SigningCloud): Promise<DoorKeys> {
  const edgeKey = toBase64url(new Uint8Array(32).fill(7));
  const begun = (await admin.call('enrol-begin', { code: cloud.code, edgeKey })) as EnrolBeginReply;
  const keys = keysIn(begun.proof);
  const [enrolment, certificate] = [await cloud.enrolment(keys), await cloud.certificate()];
  await admin.call('enrol-finish', { enrolment, root: cloud.rootKey, certificate });
  return keys;
}

/** Of a proof whose signature is not looked at. */
export function keysIn(proof: string): DoorKeys & { readonly journalFirstKey: string; readonly code: string } {
  const payload: unknown = JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return enrolmentProofStatement.parse(payload);
}

/** An ack, believed only with the door process's signature. */
export async function ackIn(jws: string, { doorSignKey }: DoorKeys) {
  const key = publicSignKey(fromBase64url(doorSignKey));
  const ack = await verifyStatement(statementType.feedAck, feedAckStatement, jws, key);
  if (ack.kind === 'rejected') throw new Error(`an ack is ${ack.reason}`);
  return ack.value;
}
