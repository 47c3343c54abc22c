/**
 * One call to the cloud, carried through: what to send is asked of the door process, what comes back is handed to it.
 *
 * Nothing is looked into but what the call itself needs; every statement goes on as it came.
 */
import type * as z from 'zod';
import { feedAckReply, feedReply, repairReply, snapshotReply, timeReply } from '#shared/contract/sync/feed.ts';
import { journalExpected, journalReply } from '#shared/contract/sync/journal.ts';
import { type ControlClient, ControlLost } from '../control/edge-side.ts';
import { ControlRefusal } from '../control/messages.ts';
import type { statementKinds } from '../control/sync-calls.ts';
import type { AskReply, DeliverReply, DoorNeeds, Questions } from '../control/sync-replies.ts';
import type { Call, CallResult } from './call-record.ts';
import type { UplinkAnswer, UplinkRequest } from './uplink.ts';

export interface RelayPorts {
  readonly door: ControlClient;
  /** Calls the cloud, with edge's own token. */
  readonly send: (request: Omit<UplinkRequest, 'authorization'>) => Promise<UplinkAnswer>;
  /** What the door process needs, as it says with every answer. */
  readonly needs: (needs: DoorNeeds) => void;
  /** What time the cloud says it is, ms: for edge's tokens, and for nothing else. */
  readonly heardTime: (at: number) => void;
}

export interface Relayed {
  readonly result: CallResult;
  /** Why it failed, for people. */
  readonly detail?: string;
}

type Failed = Extract<CallResult, { kind: 'failed' }>;
type Statement = (typeof statementKinds)[number];

const prefix = '/gateway/v1';
const answerMs = 30_000;
const pollMs = 25_000;
/** The door process builds a whole replica with the last chunk. */
const deliverMs = 600_000;
const ok: CallResult = { kind: 'ok' };
const malformed: Failed = { kind: 'failed', why: 'malformed' };
/** What the door process says of a statement that is not the cloud's word. */
const unproven: ReadonlySet<string> = new Set(['malformed', 'wrong-type', 'wrong-signature', 'wrong-shape']);

/** What ends a call, as a value. */
class Ended extends Error {
  readonly result: Failed;

  constructor(result: Failed, detail: string) {
    super(detail);
    this.result = result;
  }
}

export class Relay {
  readonly #ports: RelayPorts;

  constructor(ports: RelayPorts) {
    this.#ports = ports;
  }

  async perform(call: Call, entries: number, signal: AbortSignal): Promise<Relayed> {
    try {
      return { result: await this.#carry(call, entries, signal) };
    } catch (error) {
      if (error instanceof Ended) return { result: error.result, detail: error.message };
      const isDoor = error instanceof ControlRefusal || error instanceof ControlLost;
      if (!isDoor) throw error;
      return { result: { kind: 'failed', why: 'door-away' }, detail: `${error.code}: ${error.message}` };
    }
  }

  async #carry(call: Call, entries: number, signal: AbortSignal): Promise<CallResult> {
    switch (call) {
      case 'time':
        await this.#time(signal);
        break;
      case 'ack':
        await this.#ack(signal);
        break;
      case 'snapshot':
        await this.#snapshot(signal);
        break;
      case 'repair':
        await this.#repair(signal);
        break;
      case 'feed':
        return await this.#feed(signal);
      case 'journal':
        await this.#journal(entries, signal);
        break;
      case 'read':
        await this.#read(signal);
    }
    return ok;
  }

  async #time(signal: AbortSignal): Promise<void> {
    const { nonce } = await this.#ask('time');
    const { time } = await this.#get(timeReply, `/time?nonce=${nonce}`, signal);
    this.#ports.heardTime(saidAt(time));
    await this.#deliver('time', time);
  }

  async #ack(signal: AbortSignal): Promise<void> {
    const asked = await this.#ask('ack');
    if (asked === null) return;
    const { epoch, cursor, ...body } = asked;
    const { status, lease } = await this.#post(feedAckReply, '/feed/ack', body, signal);
    await this.#tell({ ack: status, epoch, cursor });
    if (lease !== undefined) await this.#deliver('lease', lease);
  }

  async #snapshot(signal: AbortSignal): Promise<void> {
    const { index, snapshot } = await this.#ask('snapshot');
    const query = new URLSearchParams({ index: String(index), ...(snapshot === undefined ? {} : { snapshot }) });
    const answer = await this.#ports.send({
      method: 'GET',
      path: `${prefix}/snapshot?${query}`,
      deadlineMs: answerMs,
      signal,
    });
    if (answer.kind === 'failed' && answer.code === 'SNAPSHOT_GONE') {
      await this.#tell({ snapshot: 'gone' });
      throw new Ended({ kind: 'failed', why: 'conflict' }, answer.detail);
    }
    const { chunk, certificate } = parsed(snapshotReply, answer);
    if (certificate !== undefined) await this.#deliver('certificate', certificate);
    await this.#deliver('chunk', chunk);
  }

  async #repair(signal: AbortSignal): Promise<void> {
    const sums = await this.#ask('repair');
    if (sums === null) return;
    const { repair, snapshotNeeded } = await this.#post(repairReply, '/feed/repair', sums, signal);
    if (snapshotNeeded) await this.#tell({ snapshot: 'needed' });
    else if (repair === undefined) await this.#tell({ repair: 'same' });
    else await this.#deliver('repair', repair);
  }

  /** Commands before all else; a lease is for the state before the batch. */
  async #feed(signal: AbortSignal): Promise<CallResult> {
    const { after, epoch, nonce, kinds, certificate } = await this.#ask('feed');
    const asked = { after: String(after), epoch: String(epoch), nonce, kinds, certificate: String(certificate) };
    const query = new URLSearchParams({ ...asked, waitMs: String(pollMs) });
    const reply = await this.#get(feedReply, `/feed?${query}`, signal, pollMs + answerMs);
    if (reply.certificate !== undefined) await this.#deliver('certificate', reply.certificate);
    for (const command of reply.commands) await this.#deliver('command', command);
    if (reply.lease !== undefined) await this.#deliver('lease', reply.lease);
    if (reply.urgent !== undefined) await this.#deliver('urgent', reply.urgent);
    const isUnheard = reply.batch === undefined && reply.lease === undefined;
    await this.#tell({ feed: { head: reply.head, snapshotNeeded: reply.snapshotNeeded, isUnheard } });
    if (reply.batch !== undefined) await this.#deliver('batch', reply.batch);
    return { kind: 'ok', isEmpty: isEmpty(reply) };
  }

  async #journal(entries: number, signal: AbortSignal): Promise<void> {
    const upload = await this.#ask('journal', entries);
    if (upload === null) return;
    const answer = await this.#send('/journal', upload, signal);
    if (answer.kind === 'failed' && answer.why === 'conflict') {
      const expected = journalExpected.safeParse(answer.current);
      if (expected.success) await this.#deliver('journal-ack', expected.data.ack);
    }
    const { ack } = parsed(journalReply, answer);
    await this.#deliver('journal-ack', ack);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const read = await this.#ask('read');
    if (read === null) return;
    const answer = await this.#send('/read', read, signal);
    // A window that is over wants no card any more.
    const isOver = answer.kind === 'failed' && (answer.why === 'malformed' || answer.why === 'conflict');
    if (answer.kind === 'failed' && !isOver) throw new Ended(failureOf(answer), answer.detail);
    await this.#tell({ read: read.window });
  }

  async #ask<Of extends keyof Questions>(call: Of, entries = 500): Promise<Questions[Of]> {
    const reply = (await this.#ports.door.call('sync-ask', { call, entries })) as AskReply<Of>;
    this.#ports.needs(reply.needs);
    return reply.question;
  }

  async #deliver(statement: Statement, jws: string): Promise<void> {
    const options = { deadlineMs: deliverMs };
    const reply = (await this.#ports.door.call('sync-deliver', { statement, jws }, options)) as DeliverReply;
    this.#ports.needs(reply.needs);
    if (reply.outcome !== 'refused') return;
    // What is proven and still not taken is the door process's to judge; what is not proven is not the cloud's.
    const isForged = unproven.has(reply.reason ?? '');
    const isFeed = statement === 'batch' || statement === 'chunk';
    if (isForged || isFeed) throw new Ended(malformed, `${statement}: ${reply.reason}`);
  }

  async #tell(news: Parameters<ControlClient['call']>[1]): Promise<void> {
    this.#ports.needs((await this.#ports.door.call('sync-told', news as never)) as DoorNeeds);
  }

  async #get<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    signal: AbortSignal,
    deadlineMs = answerMs,
  ): Promise<z.output<Schema>> {
    return parsed(schema, await this.#ports.send({ method: 'GET', path: prefix + path, deadlineMs, signal }));
  }

  async #post<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    body: object,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> {
    return parsed(schema, await this.#send(path, body, signal));
  }

  #send(path: string, body: object, signal: AbortSignal): Promise<UplinkAnswer> {
    const bytes = Buffer.from(JSON.stringify(body));
    return this.#ports.send({ method: 'POST', path: prefix + path, body: bytes, deadlineMs: answerMs, signal });
  }
}

/** Contact alone is nothing new. */
const isEmpty = ({ batch, urgent, certificate, commands, snapshotNeeded }: z.output<typeof feedReply>): boolean =>
  !(batch ?? urgent ?? certificate) && commands.length === 0 && !snapshotNeeded;

function parsed<Schema extends z.ZodType>(schema: Schema, answer: UplinkAnswer): z.output<Schema> {
  if (answer.kind === 'failed') throw new Ended(failureOf(answer), answer.detail);
  const result = schema.safeParse(answer.value);
  if (!result.success) throw new Ended(malformed, 'the answer has another shape');
  return result.data;
}

const failureOf = ({ why, retryAfterMs }: Extract<UplinkAnswer, { kind: 'failed' }>): Failed => ({
  kind: 'failed',
  why,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

/** The time in a statement that is not proven: good enough for edge's own tokens, which the cloud judges. */
function saidAt(jws: string): number {
  const said: unknown = JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString('utf8') || 'null');
  const at = said !== null && typeof said === 'object' && 'at' in said ? said.at : undefined;
  return typeof at === 'number' ? at : Number.NaN;
}
