/**
 * Who this gateway is to the cloud, kept sealed in site.db: keys born here, and what was pinned at the enrolment.
 *
 * Guarantees: private keys leave only as signatures and opened boxes; what was pinned cannot be exchanged on the disk.
 * Not promised: secrecy from whoever holds the master key.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import { idSchema } from '#shared/contract/identifier.ts';
import { bytesSchema, gatewayId, keyCertificateStatement } from '#shared/contract/sync/statement.ts';
import { createSealKey, openSealed, publicSealKeyOf } from '#shared/sealed-box.ts';
import { privateSignKey, rawPublicKey, toBase64url } from '#shared/signed-statement.ts';
import type { Site } from '../site/site-store.ts';
import { enrolmentNames as names } from './enrolment-names.ts';

export interface DoorIdentity {
  readonly signKey: KeyObject;
  /** Raw public keys, base64url. */
  readonly doorSignKey: string;
  readonly doorSealKey: string;
  /** @returns what was sealed to this door process for `purpose`, or `undefined`. */
  readonly open: (purpose: string, text: string) => Uint8Array | undefined;
}

const enrolmentSchema = z.strictObject({
  gateway: gatewayId,
  facility: idSchema<'facility'>(),
  facilityName: z.string().max(120),
  /** Raw key of the cloud's root, for every certificate from now on. */
  root: bytesSchema(32),
  /** In force: the feed's key, and the key to which card reads are sealed. */
  certificate: keyCertificateStatement,
  /** The last epoch of the replica from before: later ones are this cloud's. */
  sinceEpoch: z.int().min(0),
  /** Epoch and first key of the journal as the cloud was told at the enrolment. */
  journal: z.strictObject({ epoch: z.int(), firstKey: bytesSchema(32) }),
});
export type Enrolment = z.infer<typeof enrolmentSchema>;

/** What was begun with a code and waits for the cloud. */
const pendingSchema = z.strictObject({
  rootPrint: z.string().length(16),
  journal: enrolmentSchema.shape.journal,
});
export type PendingEnrolment = z.infer<typeof pendingSchema>;

export class EnrolmentStore {
  readonly #site: Site;
  #identity: DoorIdentity | undefined;

  constructor(site: Site) {
    this.#site = site;
  }

  /** Made at the first enrolment, and the same for as long as this gateway is one. */
  async identity(): Promise<DoorIdentity> {
    this.#identity ??= this.#readIdentity();
    if (this.#identity === undefined) {
      const { privateKey } = generateKeyPairSync('ed25519');
      await this.#site.sealKey(names.seal, createSealKey().privateKey);
      await this.#site.sealKey(names.sign, new Uint8Array(privateKey.export({ type: 'pkcs8', format: 'der' })));
      this.#identity = this.#readIdentity();
    }
    if (this.#identity === undefined) throw new TypeError('keys that were just sealed are there');
    return this.#identity;
  }

  enrolment(): Enrolment | undefined {
    return this.#read(names.enrolment, enrolmentSchema);
  }

  pending(): PendingEnrolment | undefined {
    return this.#read(names.pending, pendingSchema);
  }

  async keepPending(pending: PendingEnrolment): Promise<void> {
    await this.#site.sealKey(names.pending, Buffer.from(JSON.stringify(pending)));
  }

  /** The lookup key first: an enrolment is there only with everything it needs. */
  async enrol(enrolment: Enrolment, lookupKey: Uint8Array): Promise<void> {
    await this.#site.sealKey(names.lookup, lookupKey);
    await this.keep(enrolment);
    await this.#site.dropKey(names.pending);
  }

  async keep(enrolment: Enrolment): Promise<void> {
    await this.#site.sealKey(names.enrolment, Buffer.from(JSON.stringify(enrolment)));
  }

  /** The key by which the next snapshot's credentials are found, unless it carries another. */
  lookupKey(): Uint8Array | undefined {
    return this.#site.unsealKey(names.lookup);
  }

  /** Forgets the cloud, with the keys it knows this gateway by. */
  async forget(): Promise<void> {
    for (const name of [names.enrolment, names.pending, names.lookup, names.sign, names.seal])
      await this.#site.dropKey(name);
    this.#identity = undefined;
  }

  #readIdentity(): DoorIdentity | undefined {
    const [sign, seal] = [this.#site.unsealKey(names.sign), this.#site.unsealKey(names.seal)];
    if (sign === undefined || seal === undefined) return undefined;
    const signKey = privateSignKey(sign);
    sign.fill(0);
    return {
      signKey,
      doorSignKey: toBase64url(rawPublicKey(signKey)),
      doorSealKey: toBase64url(publicSealKeyOf(seal)),
      open: (purpose, text) => openSealed(seal, purpose, text),
    };
  }

  #read<Schema extends z.ZodType>(name: string, schema: Schema): z.output<Schema> | undefined {
    const bytes = this.#site.unsealKey(name);
    return bytes && schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  }
}
