/**
 * What really happened, as no part of the system can know it, and the claims that must hold at every step.
 *
 * Each claim is checked where the state it speaks of changes, which is the same as checking it after every step.
 */
import type { AckJudgement } from '#cloud/gateway-sync/judge-ack.ts';
import type { UploadJudgement } from '#cloud/gateway-sync/judge-upload.ts';
import type { FeedAck } from '#shared/contract/sync/feed.ts';
import type { UploadedEntry } from '#shared/contract/sync/journal.ts';
import { placeOf } from '#shared/journal-chain.ts';
import { digestOf } from '#shared/replica-digest.ts';
import type { CloudData } from './cloud-data.ts';
import type { Disk } from './door-disk.ts';
import type { Held } from './rows.ts';
import type { World } from './world.ts';

interface Restriction {
  readonly name: string;
  readonly seq: number;
  readonly numberedAt: number;
  /** The door process signed that it holds it, and the cloud has that. */
  isAcked: boolean;
}

interface Asked {
  readonly boot: string;
  readonly at: number;
  signedAt: number | undefined;
  /** Where the cloud said that it stands, when it signed contact. */
  head: { readonly seq: number; readonly digest: string } | undefined;
  isRenewed: boolean;
}

/** Where a replica stands, with its rows. */
export interface Standing {
  readonly epoch: number;
  readonly cursor: number;
  readonly rows: ReadonlyMap<string, Held>;
  readonly digest: string;
}

export class Ledger {
  readonly #world: World;
  /** Ends of groups: the only places at which a replica may stand. */
  readonly #ends = new Set<number>([0]);
  readonly #digests = new Map<number, string>();
  #lastPlace = 0;
  #restrictions: Restriction[] = [];
  readonly #urgent = new Map<string, number>();
  readonly #nonces = new Map<string, Asked>();
  readonly #acks = new Map<FeedAck, Standing>();
  #ackedCursor = 0;
  #newestBoot = '';
  /** Every entry that was ever on the gateway's disk, by place: more than one where the disk went back. */
  readonly #written = new Map<number, Set<string>>();
  /** Places that the gateway let go unsent, or that its disk lost. */
  readonly #letGo = new Set<number>();
  readonly #forked = new Set<string>();
  readonly #firstKeys = new Map<number, string>();
  readonly #commands = new Map<string, { readonly at: number; readonly lifetimeMs: number }>();
  readonly #acted = new Map<string, number>();
  /** By which the cloud's clock was set in all, ms. */
  clockSetMs = 0;
  /** An old disk or an old database was put back, or rows were changed by nobody. */
  isDiskOld = false;
  isDatabaseOld = false;
  isDrifted = false;
  isReplicaOld = false;
  /** How often what happened, so that a world in which nothing does is noticed. */
  readonly happened = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  #check(holds: boolean, claim: string, detail?: unknown): void {
    this.#world.check(holds, claim, detail);
  }

  count(what: string): void {
    this.happened.set(what, (this.happened.get(what) ?? 0) + 1);
  }

  // Down

  numbered(data: CloudData, last: number): void {
    this.#check(last > this.#lastPlace || this.isDatabaseOld, 'a place in the feed is given once', {
      last,
      before: this.#lastPlace,
    });
    this.#lastPlace = last;
    for (const { lastSeq } of data.placed) this.#ends.add(lastSeq);
    this.#digests.set(last, digestOf(data.head.sums));
    for (const [name, delivery] of data.deliveries) {
      if (
        !delivery.isRestriction ||
        this.#restrictions.some((known) => known.name === name && known.seq === delivery.seq)
      )
        continue;
      this.#restrictions.push({ name, seq: delivery.seq, numberedAt: delivery.numberedAt, isAcked: false });
    }
  }

  headRaised(seq: number): void {
    this.#lastPlace = seq;
    this.#ends.add(seq);
    this.#digests.delete(seq);
  }

  /** An old database was put back: what it does not know never was. */
  databaseBack(data: CloudData): void {
    this.isDatabaseOld = true;
    this.#digests.clear();
    this.#urgent.clear();
    this.#restrictions = this.#restrictions.filter(({ seq }) => seq <= data.head.seq);
    for (const known of this.#restrictions) known.isAcked = false;
  }

  /**
   * An old disk was put back, or lost its end: until the gateway is heard, nobody can know what it holds. What it had written
   * since and the cloud has not is gone.
   */
  diskBack(disk: Disk): void {
    this.isDiskOld = true;
    this.replicaBack(disk.replica?.cursor ?? 0);
    for (const place of this.#written.keys()) if (place > disk.journal.tip) this.#letGo.add(place);
  }

  /** A row is gone by a fault of ours; with it what an urgent row had said. */
  drifted(): void {
    this.isDrifted = true;
    this.#urgent.clear();
  }

  /** @param cursor where the replica that is there now stands. */
  replicaBack(cursor: number): void {
    for (const known of this.#restrictions) if (known.seq > cursor) known.isAcked = false;
    this.isReplicaOld = true;
    this.#urgent.clear();
  }

  /** @param why `repair` may put back what a fault changed. */
  replicaCommitted(
    before: Standing | undefined,
    after: Standing,
    isAhead: boolean,
    why: 'batch' | 'urgent' | 'repair' | 'snapshot',
  ): void {
    this.count(why);
    if (before !== undefined)
      this.#check(after.cursor >= before.cursor || this.isReplicaOld, 'the cursor never goes back', [
        before.cursor,
        after.cursor,
      ]);
    if (this.isDatabaseOld || this.isDrifted) return;
    this.#check(this.#ends.has(after.cursor), 'a group is applied whole', after.cursor);
    if (before !== undefined && why !== 'repair')
      for (const [name, { version }] of after.rows)
        this.#check((before.rows.get(name)?.version ?? 0) <= version, 'a row never becomes older', { name, version });
    if (isAhead) return;
    const expected = this.#digests.get(after.cursor);
    this.#check(
      expected === undefined || expected === after.digest,
      'at a place of the feed both hold the same rows',
      after.cursor,
    );
  }

  ackMade(ack: FeedAck, inUse: Standing): void {
    this.#acks.set(ack, inUse);
    this.#newestBoot = ack.bootId;
  }

  ackCounted(data: CloudData, ack: FeedAck, judged: Extract<AckJudgement, { kind: 'count' }>): void {
    const held = this.#acks.get(ack);
    this.#check(held !== undefined, 'an ack is the door’s own');
    if (held === undefined) return;
    if (judged.alarm !== undefined) this.count(judged.alarm);
    this.#ackedCursor = Math.max(this.#ackedCursor, held.cursor);
    for (const [name, { isEffective, seq }] of data.deliveries)
      this.#check(!isEffective || seq <= this.#ackedCursor, 'effective is only what the door signed for', {
        name,
        seq,
      });
    // Of a former boot, held back until now: it takes back what is so, and the next one says it again.
    const isHeldBack = ack.bootId !== this.#newestBoot;
    if (judged.alarm === 'regressed' && !isHeldBack)
      this.#check(
        this.isDiskOld || this.isDatabaseOld || this.isReplicaOld,
        'an ack says less only where a disk was put back',
        ack,
      );
    if (judged.alarm === 'ahead')
      this.#check(this.isDatabaseOld, 'an ack says more only where a database was put back', ack);
    for (const known of this.#restrictions) {
      const delivery = data.deliveries.get(known.name);
      if (delivery?.seq === known.seq && delivery.isEffective) known.isAcked = true;
    }
  }

  // Contact and decisions

  nonceIssued(nonce: string, boot: string): void {
    this.#nonces.set(nonce, { boot, at: this.#world.now, signedAt: undefined, head: undefined, isRenewed: false });
  }

  /** @param head where contact is signed for; nothing with the time. */
  signed(nonce: string, head?: { readonly seq: number; readonly digest: string }): void {
    const asked = this.#nonces.get(nonce);
    if (asked === undefined) return;
    asked.signedAt ??= this.#world.now;
    asked.head = head ?? asked.head;
  }

  renewed(
    nonce: string,
    boot: string,
    contactAt: number,
    held: { readonly cursor: number; readonly digest: string },
  ): void {
    const asked = this.#nonces.get(nonce);
    this.#check(
      asked !== undefined && asked.boot === boot,
      'a lease is renewed only for a question of this boot',
      nonce,
    );
    if (asked === undefined) return;
    const { head } = asked;
    this.#check(head !== undefined, 'a lease is renewed only by the cloud', nonce);
    this.#check(head?.seq === held.cursor && head.digest === held.digest, 'a lease is renewed only at the head', {
      head,
      held,
    });
    this.#check(Math.abs(contactAt - asked.at) < 0.01, 'contact is as of the question', { contactAt, asked: asked.at });
    this.#check(!asked.isRenewed, 'a question renews once', nonce);
    asked.isRenewed = true;
    this.count('renewal');
  }

  timeBelieved(nonce: string): void {
    const signedAt = this.#nonces.get(nonce)?.signedAt;
    this.#check(signedAt !== undefined && this.#world.now - signedAt < 5_100, 'only a time of now is believed', {
      nonce,
      signedAt,
    });
  }

  /** Rows that came before their turn are in use. */
  urgentInUse(rows: readonly { readonly id: string; readonly version: number }[]): void {
    for (const { id, version } of rows) this.#urgent.set(id, Math.max(version, this.#urgent.get(id) ?? 0));
  }

  /** A door opens. @param leaseMs of the credential; `unlimited` is never too old. */
  granted(credential: Held, grant: Held, leaseMs: number | 'unlimited'): void {
    this.count('grant');
    if (credential.put.kind !== 'credential' || grant.put.kind !== 'grant') return;
    const { id } = credential.put.row;
    const { credential: of, door, grant: name } = grant.put.row;
    const urgent = this.#urgent.get(id) ?? 0;
    this.#check(credential.version >= urgent, 'no grant by a row that an urgent one had replaced', { id, urgent });
    const held = new Map([
      [`credential ${id}`, credential.version],
      [`grant ${of} ${door} ${name}`, grant.version],
    ]);
    for (const { name: restricted, seq, numberedAt, isAcked } of this.#restrictions) {
      const version = held.get(restricted);
      if (version === undefined || seq <= version) continue;
      this.#check(!isAcked, 'no grant after its revocation was acked', { restricted, seq, version });
      const limit = leaseMs === 'unlimited' ? Number.POSITIVE_INFINITY : leaseMs + this.clockSetMs;
      this.#check(this.#world.now - numberedAt <= limit, 'no grant once the lease since the revocation is over', {
        restricted,
        seq,
        version,
        numberedAt,
      });
    }
  }

  // Commands

  commandRequested(id: string, lifetimeMs: number): void {
    this.#commands.set(id, { at: this.#world.now, lifetimeMs });
  }

  acted(id: string, nonce: string): void {
    this.count('command');
    const times = (this.#acted.get(id) ?? 0) + 1;
    this.#acted.set(id, times);
    this.#check(times === 1 || this.isDiskOld, 'a command is done at most once', id);
    const asked = this.#nonces.get(nonce);
    const command = this.#commands.get(id);
    this.#check(asked !== undefined && command !== undefined, 'a command is the cloud’s', id);
    if (asked === undefined || command === undefined) return;
    const slackMs = 60;
    this.#check(this.#world.now <= asked.at + 60_000 + slackMs, 'no command is done after a minute', id);
    const end = command.at + command.lifetimeMs + slackMs + this.clockSetMs;
    this.#check(this.#world.now <= end, 'no command is done after its time', { id, end });
  }

  // Up

  epochBegun(epoch: number, firstKey: string): void {
    if (epoch > 1) this.count('epoch');
    this.#firstKeys.set(epoch, firstKey);
  }

  firstKeyOf(epoch: number): string | undefined {
    return this.#firstKeys.get(epoch);
  }

  written(epoch: number, entry: UploadedEntry): void {
    const place = placeOf(epoch, entry.seq);
    const known = this.#written.get(place) ?? new Set();
    known.add(entry.hash);
    this.#written.set(place, known);
  }

  letGo(places: Iterable<number>): void {
    for (const place of places) this.#letGo.add(place);
  }

  forked(entries: readonly UploadedEntry[]): void {
    this.#check(this.isDiskOld, 'two histories only where a disk was put back');
    this.count('fork');
    for (const { hash } of entries) this.#forked.add(hash);
  }

  /** After an upload that follows was judged: what differs from what is stored is kept beside it. */
  heard(data: CloudData, epoch: number, entries: readonly UploadedEntry[]): void {
    for (const { seq, hash } of entries) {
      const place = placeOf(epoch, seq);
      const stored = data.entries.get(place)?.hash;
      const isOther = stored !== undefined && stored !== hash && this.#written.get(place)?.has(hash) === true;
      this.#check(!isOther || this.#forked.has(hash), 'of two histories both are kept', { epoch, seq });
    }
  }

  storing(data: CloudData, judged: Extract<UploadJudgement, { kind: 'store' }>): void {
    const { epoch } = judged.stand;
    this.count('stored');
    if (judged.gap !== undefined) this.count('gap');
    const first = judged.entries[0]?.seq ?? 0;
    if (judged.gap !== undefined)
      for (let seq = judged.gap.fromSeq; seq <= judged.gap.toSeq; seq += 1)
        this.#check(this.#letGo.has(placeOf(epoch, seq)), 'a gap is what the gateway let go', { epoch, seq });
    const isAfter = first === 1 || data.entries.has(placeOf(epoch, first - 1)) || judged.gap?.toSeq === first - 1;
    this.#check(isAfter, 'no entry is left out', { epoch, first });
    for (const [index, entry] of judged.entries.entries()) {
      const place = placeOf(epoch, entry.seq);
      this.#check(entry.seq === first + index, 'entries are stored in order', { epoch, seq: entry.seq });
      this.#check(!data.entries.has(place), 'no entry is stored twice', { epoch, seq: entry.seq });
      this.#check(this.#written.get(place)?.has(entry.hash) === true, 'an entry is the gateway’s own', {
        epoch,
        seq: entry.seq,
      });
    }
  }

  /** The gateway takes these as answered for: it may forget them. */
  ackTaken(data: CloudData, after: number, place: number, hashAt: (place: number) => string | undefined): void {
    if (this.isDatabaseOld) return;
    for (let at = Math.max(after + 1, place - 400); at <= place; at += 1) {
      const hash = hashAt(at);
      if (hash === undefined || this.#letGo.has(at)) continue;
      this.#check(data.entries.get(at)?.hash === hash, 'what is answered for is stored', at);
    }
  }

  /** At the end: whatever was on the disk is in the cloud, or it is known why not. */
  complete(data: CloudData): void {
    for (const [place, hashes] of this.#written) {
      const stored = data.entries.get(place)?.hash;
      const isThere =
        (stored !== undefined && hashes.has(stored)) || [...hashes].some((hash) => this.#forked.has(hash));
      this.#check(isThere || this.#letGo.has(place), 'no entry is lost', place);
    }
  }
}
