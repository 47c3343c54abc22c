/**
 * The feed as the door process takes it: batches into the epoch in force, snapshots into a new one with its lookup key.
 *
 * Guarantees: the key by which cards are found changes in the same turn as the rows it belongs to; how far ahead urgent
 * rows looked is journalled.
 */
import type { GatewayHealth } from '#shared/contract/sync/feed.ts';
import type { RowKind } from '#shared/replica-digest.ts';
import type { FrontDesk } from '../access/front-desk.ts';
import type { StateMemory } from '../access/state-memory.ts';
import type { DeliverReply, Questions } from '../control/sync-replies.ts';
import type { FedKind, FollowOutcome } from '../replica/feed-keeper.ts';
import type { Replica } from '../replica/replica.ts';
import type { ReplicaHead } from '../replica/replica-head.ts';
import type { DoorIdentity } from './enrolment-store.ts';
import type { LookupKeeper } from './lookup-keeper.ts';

export interface FeedDeskPorts {
  readonly gateway: string;
  /** Epochs after it are this cloud's. */
  readonly sinceEpoch: number;
  readonly replica: Replica;
  readonly lookup: LookupKeeper;
  readonly memory: StateMemory;
  readonly desk: Pick<FrontDesk, 'keep' | 'alarms' | 'commands'>;
  readonly identity: DoorIdentity;
  /** Of the enrolment; a snapshot may carry another. */
  readonly lookupKey: () => Uint8Array | undefined;
  readonly health: () => GatewayHealth;
}

type Outcome = Omit<DeliverReply, 'needs'>;
type Staged = Extract<FollowOutcome, { kind: 'staged' }>;

const ofFeed = { kind: 'gateway', id: 'feed' } as const;

export class FeedDesk {
  readonly #ports: FeedDeskPorts;
  #staged: Staged | undefined;
  #feedKey = '';

  constructor(ports: FeedDeskPorts) {
    this.#ports = ports;
  }

  /** Where decisions stand, if that is what the cloud gave. */
  head(): ReplicaHead | undefined {
    const { replica, sinceEpoch } = this.#ports;
    const { state } = replica.reader;
    return state.kind === 'live' && state.head.epoch > sinceEpoch ? state.head : undefined;
  }

  /** No snapshot before this place of the feed is taken. */
  get floor(): number {
    return this.#ports.replica.floor;
  }

  health(): GatewayHealth {
    return this.#ports.health();
  }

  /**
   * From now on this key's word is taken; a snapshot that a former run has staged goes on.
   * @param feedKey raw, base64url. @throws ReplicaFault
   */
  async trust(feedKey: string): Promise<void> {
    const { replica, gateway, sinceEpoch, memory } = this.#ports;
    this.#feedKey = feedKey;
    const floor = memory.read('feed-floor', 'floor');
    const known = typeof floor === 'number' ? floor : 0;
    const staged = await replica.trust({ gateway, feedKey, sinceEpoch, floor: known });
    if (staged?.kind !== 'staged') return;
    this.#staged = staged;
    if (staged.isWhole) await this.#build(staged);
  }

  nextChunk(): Questions['snapshot'] {
    if (this.#staged === undefined || this.#staged.isWhole) return { index: 0 };
    return { index: this.#staged.next, snapshot: this.#staged.snapshot };
  }

  /** The cloud does not have it any more; the next question begins another. */
  forgetChunks(): void {
    this.#staged = undefined;
  }

  async sums(kind: RowKind): Promise<Questions['repair']> {
    const head = this.head();
    if (head === undefined) return null;
    const sums = await this.#ports.replica.plainSums(kind);
    return { epoch: head.epoch, cursor: head.cursor, kind, sums };
  }

  /** @throws StoreFault, ReplicaFault */
  async take(fed: FedKind, jws: string): Promise<Outcome> {
    if (fed === 'urgent' && !(await this.#lookAhead(jws))) return { outcome: 'refused', reason: 'JOURNAL_UNAVAILABLE' };
    const outcome = await this.#ports.replica.follow(fed, jws);
    switch (outcome.kind) {
      case 'applied':
        this.#applied(outcome);
        return { outcome: 'applied' };
      case 'staged':
        this.#staged = outcome;
        return outcome.isWhole ? await this.#build(outcome) : { outcome: 'staged' };
      case 'duplicate':
        return { outcome: 'duplicate' };
      case 'refused':
        // The rest of what is too old is not asked for.
        if (fed === 'chunk' && outcome.reason === 'older') this.#staged = undefined;
        return { outcome: 'refused', reason: outcome.reason };
    }
  }

  /**
   * How far urgent rows look ahead is durable before they count: after a crash, a snapshot from before them would undo them.
   * @returns false where it cannot be kept.
   */
  async #lookAhead(jws: string): Promise<boolean> {
    const { replica, desk } = this.#ports;
    const proven = await replica.prove('urgent', jws, this.#feedKey);
    // What is not the cloud's word, or changes nothing, is told apart by who applies it.
    if (proven.kind === 'rejected' || !replica.isAhead(proven.value)) return true;
    desk.keep([{ kind: 'feed-floor', key: 'floor', value: proven.value.head }]);
    return (await desk.commands.settle()).kind === 'durable';
  }

  #applied({ unsupported }: Extract<FollowOutcome, { kind: 'applied' }>): void {
    const { desk } = this.#ports;
    if (unsupported === undefined) desk.alarms.clear(ofFeed, 'FEED_HELD_UP');
    else desk.alarms.raise(ofFeed, 'FEED_HELD_UP', unsupported);
  }

  async #build({ lookupKeySealed }: Staged): Promise<Outcome> {
    const { replica, lookup, identity, lookupKey } = this.#ports;
    this.#staged = undefined;
    const key = lookupKeySealed === null ? lookupKey() : identity.open('lookup key', lookupKeySealed);
    if (key?.length !== 32) return { outcome: 'refused', reason: 'lookup-key' };
    const epoch = replica.freshEpoch();
    await lookup.keep(epoch, key);
    const built = await replica.build(epoch);
    if (built.kind === 'refused') return { outcome: 'refused', reason: built.reason };
    await lookup.forgetOthers(epoch);
    return { outcome: 'switched' };
  }
}
