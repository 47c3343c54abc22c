/** Everything that a cloud signs, with real keys and no server: what a door process is told can be made up line by line. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { FeedChange, FeedPut } from '#shared/contract/sync/feed.ts';
import { type StatementType, statementType } from '#shared/contract/sync/statement.ts';
import { doorFingerprintOf, formatEnrolmentCode, rootPrintOf } from '#shared/enrolment-code.ts';
import { plainHashOf, type RowOf } from '#shared/replica-columns.ts';
import { addHash, digestOf, emptySums, type RowKind } from '#shared/replica-digest.ts';
import { createSealKey, openSealed, sealFor } from '#shared/sealed-box.ts';
import { fromBase64url, rawPublicKey, signStatement, toBase64url } from '#shared/signed-statement.ts';

export const gateway = 'gwy_test';
export const facility = 'fac_test';
const startedAt = Date.UTC(2026, 0, 1);
const keyPair = (): KeyObject => generateKeyPairSync('ed25519').privateKey;
const rawOf = (key: KeyObject): string => toBase64url(rawPublicKey(key));

export class SigningCloud {
  readonly root = keyPair();
  feedKey = keyPair();
  readonly seal = createSealKey();
  readonly lookupKey: Uint8Array;
  readonly code: string;

  constructor(lookupKey: Uint8Array = new Uint8Array(32).fill(0x22)) {
    this.lookupKey = lookupKey;
    const rootPrint = rootPrintOf(rawPublicKey(this.root));
    this.code = formatEnrolmentCode({ codeId: '00000001', secret: '0123456789ABCDEF', rootPrint });
  }

  get rootKey(): string {
    return rawOf(this.root);
  }

  sign(type: StatementType, value: object, key: KeyObject = this.feedKey): Promise<string> {
    return signStatement(type, value, key);
  }

  certificate(serial = 1, feedKey: KeyObject = this.feedKey): Promise<string> {
    const said = {
      feedKey: rawOf(feedKey),
      sealKey: toBase64url(this.seal.publicKey),
      serial,
      notBefore: startedAt,
      notAfter: Date.UTC(2100, 0, 1),
    };
    return this.sign(statementType.keyCertificate, said, this.root);
  }

  /** What a confirmed gateway is told. */
  async enrolment(keys: { readonly doorSignKey: string; readonly doorSealKey: string }): Promise<string> {
    return await this.sign(statementType.enrolment, {
      gateway,
      facility,
      facilityName: 'Test facility',
      doorFingerprint: doorFingerprintOf(keys),
      lookupKeySealed: this.sealLookup(keys.doorSealKey),
      cursor: 0,
      issuedAt: startedAt,
    });
  }

  sealLookup(doorSealKey: string, lookupKey = this.lookupKey): string {
    return sealFor(fromBase64url(doorSealKey), 'lookup key', lookupKey);
  }

  openRead(sealed: string): unknown {
    const opened = openSealed(this.seal.privateKey, 'card read', sealed);
    return opened && JSON.parse(Buffer.from(opened).toString('utf8'));
  }

  /** @param size rows a chunk. */
  async snapshot(
    rows: readonly FeedPut[],
    { cursor, id = `snap-${cursor}`, size = 1_000 }: { cursor: number; id?: string; size?: number },
  ): Promise<readonly string[]> {
    const count = Math.max(1, Math.ceil(rows.length / size));
    const digest = digestOfRows(rows);
    return await Promise.all(
      Array.from({ length: count }, (_, index) =>
        this.sign(statementType.snapshotChunk, {
          gateway,
          snapshot: id,
          index,
          isLast: index === count - 1,
          cursor,
          digest,
          rows: rows.slice(index * size, (index + 1) * size),
          issuedAt: startedAt,
        }),
      ),
    );
  }

  batch(epoch: number, from: number, changes: readonly FeedChange[], head = from + changes.length): Promise<string> {
    const to = from + changes.length;
    return this.sign(statementType.feedBatch, { gateway, epoch, from, to, head, changes, issuedAt: startedAt });
  }

  urgent(epoch: number, head: number, credentials: readonly RowOf['credential'][]): Promise<string> {
    return this.sign(statementType.urgent, { gateway, epoch, head, credentials, issuedAt: startedAt });
  }

  lease(said: { epoch: number; nonce: string; head: number; digest: string }): Promise<string> {
    return this.sign(statementType.lease, { gateway, ...said, issuedAt: startedAt });
  }

  time(nonce: string, at: number): Promise<string> {
    return this.sign(statementType.time, { gateway, nonce, at });
  }

  command(said: { id: string; nonce: string; what: object; lifetimeMs?: number; gateway?: string }): Promise<string> {
    const whole = { gateway, lifetimeMs: 30_000, actor: 'Operator', issuedAt: startedAt, ...said };
    return this.sign(statementType.command, whole);
  }

  /** @param said.nextKey of the first head behind it, as the gateway named it. */
  journalAck(said: { epoch: number; seq: number; hash: string; nextKey: string }): Promise<string> {
    return this.sign(statementType.journalAck, { gateway, ...said, at: startedAt });
  }
}

/** Rows as the cloud adds them up. */
export function digestOfRows(rows: readonly FeedPut[]): string {
  const sums = { ...emptySums };
  for (const { kind, row } of rows) sums[kind] = addHash(sums[kind], plainHashOf(kind, row as never));
  return digestOf(sums);
}

/** What a feed says of a facility's rows. */
export const put = <Kind extends RowKind>(kind: Kind, row: RowOf[Kind]): FeedPut =>
  ({ op: 'put', kind, row }) as unknown as FeedPut;
