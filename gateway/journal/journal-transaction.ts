/**
 * Everything that may change in journal.db, within one transaction: entries, state, heads, the boundary.
 *
 * Guarantees: whatever is done here, `finish` seals the outcome, so that history, state and boundary are consistent or
 * not there at all. It changes no memory of the file: who commits takes the new position, who rolls back keeps the old.
 */
import { randomBytes } from 'node:crypto';
import { invariant } from '#shared/invariant.ts';
import { entryHash, epochOf, personalHash, placeOf, seqOf } from '#shared/journal-chain.ts';
import { createHeadKey, type SignedHead, signHead } from '#shared/signed-head.ts';
import { sealBytes, unsealBytes } from '../site/sealed-keys.ts';
import { toggleCode } from '../store/row-code.ts';
import type { EntryRow, ExtentRow, JournalTables } from './journal-tables.ts';
import type { PreparedDraft, PreparedState } from './prepared-entry.ts';
import { codeOfSeal, codeOfState, headKeyName } from './state-seal.ts';

/** Where the file stands after its last commit. */
export interface Position {
  /** Place of the last entry; of a fresh file, (first epoch, 0). */
  readonly tip: number;
  readonly tipHash: Uint8Array;
  readonly tipAt: number;
  readonly stateSum: Uint8Array;
  readonly extent: ExtentRow;
  /** Place of the last head, 0 before the first. */
  readonly headPlace: number;
}

export interface JournalKeys {
  readonly master: Uint8Array;
  readonly state: Uint8Array;
}

export class JournalTransaction {
  readonly #tables: JournalTables;
  readonly #keys: JournalKeys;
  readonly #bootId: string;
  #position: Position;
  readonly entries: EntryRow[] = [];

  constructor(tables: JournalTables, keys: JournalKeys, bootId: string, start: Position) {
    this.#tables = tables;
    this.#keys = keys;
    this.#bootId = bootId;
    this.#position = start;
  }

  get position(): Position {
    return this.#position;
  }

  /** @returns the place it got. */
  append(draft: PreparedDraft): number {
    const place = this.#position.tip + 1;
    const salt = draft.personal === null ? undefined : randomBytes(16);
    const chained = {
      place,
      bootId: this.#bootId,
      at: draft.at,
      clockState: draft.clockState,
      kind: draft.kind,
      door: draft.door,
      requestId: draft.requestId,
      body: draft.body,
      personalHash: salt && draft.personal !== null ? personalHash(salt, draft.personal) : null,
      prevHash: this.#position.tipHash,
    };
    const row = { ...chained, hash: entryHash(chained) };
    this.#tables.insertEntry.run(row);
    if (salt && draft.personal !== null) this.#tables.insertPrivate.run({ place, salt, value: draft.personal });
    this.entries.push(row);
    this.#position = { ...this.#position, tip: place, tipHash: row.hash, tipAt: row.at };
    return place;
  }

  putState(write: PreparedState): void {
    const { kind, key, value } = write;
    const old = this.#tables.stateCode.get(kind, key);
    const fresh = value === null ? undefined : codeOfState(this.#keys.state, kind, key, value);
    if (value === null || !fresh) this.#tables.deleteState.run(kind, key);
    else this.#tables.putState.run({ kind, key, value, code: fresh });
    let stateSum = this.#position.stateSum;
    if (old) stateSum = toggleCode(stateSum, old);
    if (fresh) stateSum = toggleCode(stateSum, fresh);
    this.#position = { ...this.#position, stateSum };
  }

  /** The next entry is the first of a new epoch; it stands on the last of the old one. */
  beginEpoch(epoch: number): void {
    invariant(epoch > epochOf(this.#position.tip), `epoch ${epoch} is later than the one before`);
    this.#position = { ...this.#position, tip: placeOf(epoch, 0) };
  }

  /** Signs the chain up to the last entry and changes the key. @returns `undefined` if there is nothing new. */
  signHead(): SignedHead | undefined {
    const { tip, tipHash, tipAt, headPlace } = this.#position;
    if (tip === headPlace || seqOf(tip) === 0) return undefined;
    const current = this.#tables.headKey.get();
    const privateKey = current && unsealBytes(this.#keys.master, headKeyName, current.sealed);
    invariant(privateKey, 'the head key opened when the file did');
    const next = createHeadKey();
    const head = signHead({ place: tip, at: tipAt, hash: tipHash, nextKey: next.publicKey }, privateKey);
    privateKey.fill(0);
    this.#tables.insertHead.run(head);
    this.#putHeadKey(next.publicKey, next.privateKey);
    this.#position = { ...this.#position, headPlace: tip };
    return head;
  }

  /** Entries up to `boundary` may go from now on. */
  moveBoundary(boundary: number, boundaryHash: Uint8Array): void {
    this.#moveExtent({ ...this.#position.extent, boundary, boundaryHash });
  }

  markAcked(acked: number): void {
    if (acked > this.#position.extent.acked) this.#moveExtent({ ...this.#position.extent, acked });
  }

  /** Makes the rows that a fresh file must have. */
  createRows(extent: ExtentRow, privateKey: Uint8Array): void {
    this.#tables.insertExtent.run(extent);
    this.#putHeadKey(extent.firstKey, privateKey);
  }

  /** The last thing before the commit. */
  finish(): void {
    const { tip, tipHash, stateSum, extent } = this.#position;
    const seal = { tip, tipHash, stateSum };
    this.#tables.putSeal.run({ ...seal, code: codeOfSeal(this.#keys.state, seal, extent) });
  }

  #moveExtent(extent: ExtentRow): void {
    this.#tables.moveExtent.run(extent.boundary, extent.boundaryHash, extent.acked);
    this.#position = { ...this.#position, extent };
  }

  #putHeadKey(publicKey: Uint8Array, privateKey: Uint8Array): void {
    this.#tables.putHeadKey.run({ publicKey, sealed: sealBytes(this.#keys.master, headKeyName, privateKey) });
    privateKey.fill(0);
  }
}
