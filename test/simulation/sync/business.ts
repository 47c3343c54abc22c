/** What people do in the cloud: each act is one transaction, open for a while, committed or not, beside others. */
import type { Cloud } from './cloud.ts';
import { credentialOfGrant, type Draft, doorOfGrant, grantKey, nameOf, type Status } from './rows.ts';
import type { Task } from './world.ts';

const doors = ['d1', 'd2', 'd3'] as const;
const cards = 8;

type CredentialDraft = Extract<Draft, { kind: 'credential'; op: 'put' }>;

export class Business {
  readonly #cloud: Cloud;
  readonly #locks = new Set<string>();
  #groups = 0;
  #people = 0;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  get #random() {
    return this.#cloud.world.random;
  }

  #credentials(): readonly CredentialDraft[] {
    return [...this.#cloud.data.sources.values()].filter(
      (draft): draft is CredentialDraft => draft.op === 'put' && draft.kind === 'credential',
    );
  }

  /** Locks end with the node that holds them: they are let go with the transaction, however that ends. */
  act(): void {
    const node = this.#cloud.anyNode();
    if (node === undefined) return;
    const plan = this.#plan();
    if (plan === undefined) return;
    const locks = [...plan.locks];
    if (this.#isBlocked(locks)) return;
    for (const lock of locks) this.#locks.add(lock);
    let isOver = false;
    const release = () => {
      if (isOver) return;
      isOver = true;
      for (const lock of locks) this.#locks.delete(lock);
    };
    node.spawn(this.#transact(plan), release);
    // A node that ends rolls back.
    const { boot } = node;
    const watch = (): void => {
      if (isOver) return;
      if (node.isUp && node.boot === boot) this.#cloud.world.after(500, watch);
      else release();
    };
    this.#cloud.world.after(500, watch);
  }

  /** Which doors are the gateway's stands still while anything is being written. */
  #isBlocked(locks: readonly string[]): boolean {
    if (locks.includes('scope')) return this.#locks.size > 0;
    return this.#locks.has('scope') || locks.some((lock) => this.#locks.has(lock));
  }

  *#transact(plan: Plan): Task {
    yield this.#random.next() * 400;
    const drafts = plan.write();
    this.#groups += 1;
    const id = this.#groups;
    yield 'step';
    yield this.#random.chance(0.2) ? this.#random.next() * 3_000 : this.#random.next() * 100;
    if (this.#random.chance(0.1)) return;
    this.#commit(id, drafts, plan.binds);
  }

  #commit(id: number, drafts: readonly Draft[], binds: Plan['binds']): void {
    const { data } = this.#cloud;
    const ours = (draft: Draft) =>
      draft.kind !== 'grant' || data.bound.has(doorOfGrant(draft.key)) || binds?.door === doorOfGrant(draft.key);
    if (binds === undefined)
      for (const draft of drafts) {
        if (draft.op === 'put') data.sources.set(nameOf(draft), draft);
        else data.sources.delete(nameOf(draft));
      }
    else if (binds.isBound) data.bound.add(binds.door);
    else data.bound.delete(binds.door);
    const sent = drafts.filter(ours);
    if (sent.length === 0) return;
    data.queue.push({ id, drafts: sent });
    this.#cloud.world.note(
      'business commits',
      id,
      sent.map((draft) => `${draft.op} ${nameOf(draft)}`),
    );
    this.#cloud.queued.fire();
  }

  #plan(): Plan | undefined {
    const roll = this.#random.next();
    const credentials = this.#credentials();
    if (roll < 0.25 || credentials.length < 2) return this.#issue();
    if (roll < 0.45) return this.#status(this.#random.pick(credentials), 'suspended');
    if (roll < 0.7) return this.#status(this.#random.pick(credentials), 'issued');
    if (roll < 0.76) return this.#status(this.#random.pick(credentials), 'revoked');
    if (roll < 0.87) return this.#handOver(this.#random.pick(credentials));
    if (roll < 0.9) return this.#retire(this.#random.pick(credentials));
    if (roll < 0.94) return this.#regrant(this.#random.pick(credentials));
    return this.#bind();
  }

  #newCredential(card: number): readonly Draft[] {
    this.#people += 1;
    const [holder, key] = [`h${this.#people}`, `c${this.#people}`];
    const leaseMs = this.#random.pick([10_000, 30_000, 60_000, 'unlimited'] as const) ?? 'unlimited';
    const grants = doors
      .filter(() => this.#random.chance(0.6))
      .map((door): Draft => ({ op: 'put', kind: 'grant', key: grantKey(key, door) }));
    return [
      { op: 'put', kind: 'holder', key: holder, name: `name ${this.#random.int(1, 9)}` },
      { op: 'put', kind: 'credential', key, holder, card, status: 'issued', leaseMs },
      ...grants,
    ];
  }

  #issue(): Plan | undefined {
    const taken = new Set(this.#credentials().map(({ card }) => card));
    const card = Array.from({ length: cards }, (_, index) => index + 1).find((one) => !taken.has(one));
    if (card === undefined) return undefined;
    return { locks: [`card ${card}`], write: () => this.#newCredential(card) };
  }

  #status(credential: CredentialDraft | undefined, status: Status): Plan | undefined {
    if (credential === undefined || credential.status === 'revoked' || credential.status === status) return undefined;
    return { locks: [nameOf(credential)], write: () => [{ ...credential, status }] };
  }

  /** The card goes to somebody else: out with the old, in with the new, in one group. */
  #handOver(credential: CredentialDraft | undefined): Plan | undefined {
    if (credential === undefined) return undefined;
    return {
      locks: [nameOf(credential), `card ${credential.card}`],
      write: () => [...this.#removal(credential), ...this.#newCredential(credential.card)],
    };
  }

  /** Out, and nobody has the card for now. */
  #retire(credential: CredentialDraft | undefined): Plan | undefined {
    if (credential === undefined) return undefined;
    return { locks: [nameOf(credential), `card ${credential.card}`], write: () => this.#removal(credential) };
  }

  #removal(credential: CredentialDraft): readonly Draft[] {
    const grants = [...this.#cloud.data.sources.values()].filter(
      ({ kind, key }) => kind === 'grant' && credentialOfGrant(key) === credential.key,
    );
    return [
      ...grants.map(({ key }): Draft => ({ op: 'remove', kind: 'grant', key })),
      { op: 'remove', kind: 'credential', key: credential.key },
      { op: 'remove', kind: 'holder', key: credential.holder },
    ];
  }

  #regrant(credential: CredentialDraft | undefined): Plan | undefined {
    if (credential === undefined) return undefined;
    const key = grantKey(credential.key, this.#random.pick(doors) ?? 'd1');
    const isThere = this.#cloud.data.sources.has(`grant ${key}`);
    const draft: Draft = isThere ? { op: 'remove', kind: 'grant', key } : { op: 'put', kind: 'grant', key };
    return { locks: [nameOf(credential)], write: () => [draft] };
  }

  /** A door becomes the gateway's, or another's: what hangs on it comes or goes. */
  #bind(): Plan | undefined {
    const door = this.#random.pick(doors) ?? 'd1';
    const isBound = !this.#cloud.data.bound.has(door);
    const write = () =>
      [...this.#cloud.data.sources.values()]
        .filter(({ kind, key }) => kind === 'grant' && doorOfGrant(key) === door)
        .map(({ key }): Draft => ({ op: isBound ? 'put' : 'remove', kind: 'grant', key }));
    return { locks: ['scope'], write, binds: { door, isBound } };
  }

  /** An old database was put back: groups go on above those that are gone. */
  forget(): void {
    this.#locks.clear();
  }

  command(): void {
    const door = this.#random.pick(doors) ?? 'd1';
    this.#cloud.requestCommand({ act: 'release', door: door as never });
  }
}

interface Plan {
  readonly locks: readonly string[];
  readonly write: () => readonly Draft[];
  readonly binds?: { readonly door: string; readonly isBound: boolean };
}

/** As many as there are cards. */
export const cardCount = cards;
export const doorNames: readonly string[] = doors;
