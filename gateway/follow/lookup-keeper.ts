/**
 * The key by which credentials are found: the one of the epoch in force.
 *
 * Each epoch that came from the cloud has its key under its own name, sealed before the epoch is put in force, so that a
 * crash in between finds either epoch with its own key. Epochs imported here are found by the key born here.
 */
import { type CredentialLookup, createCredentialLookup } from '#shared/credential-lookup.ts';
import type { Site } from '../site/site-store.ts';

const prefix = 'lookup-key/';
const nameOf = (epoch: number): string => `${prefix}${epoch}`;

/** @param epoch in force, or `undefined`. @param own born on this box. */
function lookupKeyOf(site: Site, epoch: number | undefined, own: Uint8Array): Uint8Array {
  return (epoch === undefined ? undefined : site.unsealKey(nameOf(epoch))) ?? own;
}

export class LookupKeeper {
  readonly #site: Site;
  readonly #own: Uint8Array;
  #current: CredentialLookup;
  #epoch: number | undefined;

  constructor(site: Site, own: Uint8Array, epoch: number | undefined) {
    this.#site = site;
    this.#own = own;
    this.#epoch = epoch;
    this.#current = createCredentialLookup(lookupKeyOf(site, epoch, own));
  }

  /** For decisions; follows the epoch. */
  readonly lookup: CredentialLookup = {
    ofCard: (normalized) => this.#current.ofCard(normalized),
    ofPin: (slowHash) => this.#current.ofPin(slowHash),
  };

  /** Before an epoch of the cloud is put in force. Durable when it resolves. */
  async keep(epoch: number, key: Uint8Array): Promise<void> {
    await this.#site.sealKey(nameOf(epoch), key);
  }

  /** In the turn in which decisions move to an epoch. */
  use(epoch: number): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#current = createCredentialLookup(lookupKeyOf(this.#site, epoch, this.#own));
  }

  /** Drops the keys of every other epoch. */
  async forgetOthers(epoch: number): Promise<void> {
    const others = this.#site.keyNames().filter((name) => name.startsWith(prefix) && name !== nameOf(epoch));
    for (const name of others) await this.#site.dropKey(name);
  }
}
