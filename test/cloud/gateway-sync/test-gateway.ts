/**
 * A gateway for tests of the cloud: door and edge in one, with real keys, a replica in memory and a journal that chains.
 *
 * It does what it is told, whether that is right or not: what it believes is for the tests to say.
 */
import { generateKeyPairSync, hash, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type * as z from 'zod';
import { commandStatement } from '#shared/contract/sync/command.ts';
import { enrolmentStatement } from '#shared/contract/sync/enrolment.ts';
import {
  type FeedBatch,
  type FeedChange,
  type FeedPut,
  feedBatchStatement,
  feedKinds,
  feedReply,
  leaseStatement,
  type SnapshotChunk,
  snapshotChunkStatement,
  snapshotReply,
  urgentStatement,
} from '#shared/contract/sync/feed.ts';
import { keyCertificateStatement, type StatementType, statementType } from '#shared/contract/sync/statement.ts';
import { enrolmentProofOf, parseEnrolmentCode } from '#shared/enrolment-code.ts';
import { keyOfChange } from '#shared/feed-rule.ts';
import { plainHashOf } from '#shared/replica-columns.ts';
import { addHash, digestOf, emptySums } from '#shared/replica-digest.ts';
import { createSealKey, openSealed, type SealKey } from '#shared/sealed-box.ts';
import {
  fromBase64url,
  publicSignKey,
  rawPublicKey,
  signStatement,
  toBase64url,
  verifyStatement,
} from '#shared/signed-statement.ts';
import { TestJournal } from './test-journal.ts';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came.
  readonly body: any;
}

export const kindsText = Object.entries(feedKinds)
  .map(([kind, version]) => `${kind}:${version}`)
  .join(',');

export const newNonce = (): string => toBase64url(randomBytes(16));

export class TestGateway {
  readonly cloud: string;
  readonly door: KeyObject = generateKeyPairSync('ed25519').privateKey;
  readonly seal: SealKey = createSealKey();
  readonly edge: KeyObject = generateKeyPairSync('ed25519').privateKey;
  readonly journal = new TestJournal();
  readonly bootId = randomUUID();
  id = '';
  facility = '';
  /** Root's and feed's raw keys, as they were believed. */
  root: Uint8Array = new Uint8Array();
  feedKey: Uint8Array = new Uint8Array();
  certificateSerial = 0;
  lookupKey: Uint8Array | undefined;
  epoch = 0;
  cursor = 0;
  acks = 0;
  kinds = kindsText;
  readonly rows = new Map<string, FeedPut>();

  constructor(cloud: string) {
    this.cloud = cloud;
  }

  get fingerprintKeys() {
    return {
      doorSignKey: toBase64url(rawPublicKey(this.door)),
      doorSealKey: toBase64url(this.seal.publicKey),
      edgeKey: toBase64url(rawPublicKey(this.edge)),
    };
  }

  async proof(code: string, changes: object = {}): Promise<string> {
    const parsed = parseEnrolmentCode(code);
    if (!parsed) throw new Error(`no code: ${code}`);
    const keys = this.fingerprintKeys;
    const proof = {
      codeId: parsed.codeId,
      code: enrolmentProofOf(parsed.secret, keys),
      ...keys,
      journalEpoch: 1,
      journalFirstKey: toBase64url(this.journal.firstKey),
      ...changes,
    };
    return await signStatement(statementType.enrolmentProof, proof, this.door);
  }

  async enrol(code: string, changes: object = {}): Promise<Answer> {
    const proof = await this.proof(code, changes);
    const body = { proof, hardware: 'test', version: '1', devices: ['dev1'] };
    const answer = await this.send('POST', '/gateway/v1/enroll', { body, token: null });
    if (answer.body.status === 'pending') this.id = answer.body.gateway;
    if (answer.body.status === 'enrolled') await this.believe(answer.body, code);
    return answer;
  }

  /** Root by the code, feed key by the root, and everything else by the feed key. */
  private async believe(reply: { root: string; certificate: string; enrolment: string }, code: string): Promise<void> {
    this.root = fromBase64url(reply.root);
    await this.takeCertificate(reply.certificate);
    const enrolment = await this.verified(statementType.enrolment, enrolmentStatement, reply.enrolment);
    expect(parseEnrolmentCode(code)).toBeDefined();
    this.id = enrolment.gateway;
    this.facility = enrolment.facility;
    this.lookupKey = openSealed(this.seal.privateKey, 'lookup key', enrolment.lookupKeySealed);
  }

  async takeCertificate(jws: string): Promise<void> {
    const verified = await verifyStatement(
      statementType.keyCertificate,
      keyCertificateStatement,
      jws,
      publicSignKey(this.root),
    );
    if (verified.kind === 'rejected') throw new Error(`certificate ${verified.reason}`);
    if (verified.value.serial <= this.certificateSerial) return;
    this.certificateSerial = verified.value.serial;
    this.feedKey = fromBase64url(verified.value.feedKey);
  }

  async verified<Schema extends z.ZodType>(
    type: StatementType,
    schema: Schema,
    jws: string,
  ): Promise<z.output<Schema>> {
    const verified = await verifyStatement(type, schema, jws, publicSignKey(this.feedKey));
    if (verified.kind === 'rejected') throw new Error(`${type} ${verified.reason}`);
    return verified.value;
  }

  async token(method: string, path: string, body: string, changes: object = {}): Promise<string> {
    const iat = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: this.id,
      aud: 'kannuki-cloud',
      iat,
      exp: iat + 60,
      jti: randomUUID(),
      method,
      path,
      body: hash('sha256', body, 'hex'),
      ...changes,
    };
    return await signStatement(statementType.transport, claims, this.edge);
  }

  /** @param options.token instead of the right one; `null` sends none. */
  async send(
    method: 'GET' | 'POST',
    path: string,
    options: { readonly body?: unknown; readonly token?: string | null; readonly signal?: AbortSignal } = {},
  ): Promise<Answer> {
    const text = options.body === undefined ? '' : JSON.stringify(options.body);
    const token = options.token === undefined ? await this.token(method, path, text) : options.token;
    const response = await fetch(this.cloud + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      },
      ...(method === 'POST' ? { body: text } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    });
    return { status: response.status, body: await response.json() };
  }

  feedPath(waitMs: number, nonce: string, changes: Readonly<Record<string, string | number>> = {}): string {
    const query = { after: this.cursor, epoch: this.epoch, nonce, kinds: this.kinds, waitMs, ...changes };
    const text = Object.entries({ ...query, certificate: this.certificateSerial }).map(
      ([name, value]) => `${name}=${encodeURIComponent(value)}`,
    );
    return `/gateway/v1/feed?${text.join('&')}`;
  }

  async poll(waitMs = 0, nonce = newNonce()) {
    const answer = await this.send('GET', this.feedPath(waitMs, nonce));
    expect(answer).toMatchObject({ status: 200 });
    return await this.opened(feedReply.parse(answer.body));
  }

  /** The reply with its statements verified. */
  private async opened(reply: z.output<typeof feedReply>) {
    if (reply.certificate !== undefined) await this.takeCertificate(reply.certificate);
    return {
      ...reply,
      batch:
        reply.batch === undefined
          ? undefined
          : await this.verified(statementType.feedBatch, feedBatchStatement, reply.batch),
      urgent:
        reply.urgent === undefined
          ? undefined
          : await this.verified(statementType.urgent, urgentStatement, reply.urgent),
      lease:
        reply.lease === undefined ? undefined : await this.verified(statementType.lease, leaseStatement, reply.lease),
      commands: await Promise.all(
        reply.commands.map((jws) => this.verified(statementType.command, commandStatement, jws)),
      ),
    };
  }

  apply(batch: FeedBatch): void {
    expect(batch).toMatchObject({ gateway: this.id, epoch: this.epoch, from: this.cursor });
    for (const change of batch.changes) this.change(change);
    this.cursor = batch.to;
  }

  private change(change: FeedChange): void {
    const { kind, key } = keyOfChange(change);
    if (change.op === 'remove') this.rows.delete(`${kind} ${key}`);
    else this.rows.set(`${kind} ${key}`, change);
  }

  digest(): string {
    const sums = { ...emptySums };
    for (const { kind, row } of this.rows.values()) sums[kind] = addHash(sums[kind], plainHashOf(kind, row as never));
    return digestOf(sums);
  }

  async ackStatement(changes: object = {}): Promise<string> {
    this.acks += 1;
    const ack = {
      gateway: this.id,
      epoch: this.epoch,
      cursor: this.cursor,
      digest: this.digest(),
      at: Date.now(),
      bootId: this.bootId,
      count: this.acks,
      nonce: newNonce(),
      ...changes,
    };
    return await signStatement(statementType.feedAck, ack, this.door);
  }

  async ack(changes: object = {}): Promise<Answer> {
    return await this.send('POST', '/gateway/v1/feed/ack', { body: { ack: await this.ackStatement(changes) } });
  }

  async takeSnapshot(): Promise<readonly SnapshotChunk[]> {
    const chunks: SnapshotChunk[] = [];
    for (let index = 0; !chunks.at(-1)?.isLast; index += 1) {
      const first = chunks[0]?.snapshot;
      const named = first === undefined ? '' : `&snapshot=${first}`;
      const answer = await this.send('GET', `/gateway/v1/snapshot?index=${index}${named}`);
      expect(answer).toMatchObject({ status: 200 });
      const reply = snapshotReply.parse(answer.body);
      if (reply.certificate !== undefined) await this.takeCertificate(reply.certificate);
      chunks.push(await this.verified(statementType.snapshotChunk, snapshotChunkStatement, reply.chunk));
    }
    this.rows.clear();
    for (const { rows } of chunks) for (const row of rows) this.change(row);
    this.epoch += 1;
    this.cursor = chunks[0]?.cursor ?? 0;
    const sealed = chunks[0]?.lookupKeySealed;
    if (sealed !== undefined) this.lookupKey = openSealed(this.seal.privateKey, 'lookup key', sealed);
    expect(this.digest()).toBe(chunks[0]?.digest);
    return chunks;
  }

  /** Polls, applies and acks until it stands at the head. */
  async catchUp(): Promise<void> {
    for (let turn = 0; turn < 1_000; turn += 1) {
      const { batch, snapshotNeeded, head } = await this.poll();
      if (snapshotNeeded) await this.takeSnapshot();
      else if (batch) this.apply(batch);
      else if (this.cursor === head) return;
      expect(await this.ack()).toMatchObject({ status: 200 });
    }
    throw new Error('it never comes to the head');
  }

  async upload(changes: object = {}): Promise<Answer> {
    return await this.send('POST', '/gateway/v1/journal', { body: { ...this.journal.upload(), ...changes } });
  }
}
