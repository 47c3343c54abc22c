/** One world from its seed: a time in which things go wrong, then a time in which all must come right again. */

import { Business, cardCount, doorNames } from './business.ts';
import { Cloud } from './cloud.ts';
import { backUp, type CloudData } from './cloud-data.ts';
import { Door } from './door.ts';
import { emptyDisk } from './door-disk.ts';
import { Edge } from './edge.ts';
import { Ledger } from './ledger.ts';
import { Network } from './network.ts';
import { drawOptions, type SimulationOptions } from './options.ts';
import { type Parts, parts as production } from './parts.ts';
import { credentialOfGrant, doorOfGrant } from './rows.ts';
import { Broken, type Process, World } from './world.ts';

export interface SeedResult {
  readonly seed: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly happened: ReadonlyMap<string, number>;
  readonly failure:
    | { readonly claim: string; readonly at: number; readonly step: number; readonly trace: readonly string[] }
    | undefined;
}

/** After the last fault all must be right within this. */
const healMs = 400_000;

export function runSeed(seed: number, parts: Parts = production, traceMax = 60): SeedResult {
  const world = new World(seed, traceMax);
  const options = drawOptions(world.random);
  const scene = new Scene(world, options, parts);
  const done = (failure: SeedResult['failure']): SeedResult => ({
    seed,
    steps: world.steps,
    virtualMs: Math.round(world.now),
    happened: scene.happened(),
    failure,
  });
  try {
    scene.run();
    return done(undefined);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const claim = error instanceof Broken ? error.message : `${error.name}: ${error.stack ?? error.message}`;
    return done({
      claim,
      at: Math.round(world.now),
      step: world.steps,
      trace: [JSON.stringify(options), ...world.trace()],
    });
  }
}

class Scene {
  readonly world: World;
  readonly ledger: Ledger;
  readonly #options: SimulationOptions;
  readonly #cloud: Cloud;
  readonly #door: Door;
  readonly #edge: Edge;
  readonly #network: Network;
  readonly #business: Business;
  #isActive = true;
  #cuts = 0;

  constructor(world: World, options: SimulationOptions, parts: Parts) {
    this.world = world;
    this.#options = options;
    this.ledger = new Ledger(world);
    this.#cloud = new Cloud(world, parts, this.ledger, emptyDisk('k0').journal.key);
    this.#door = new Door(world, parts, this.ledger, this.#cloud);
    const { loss, duplication, delayMs, delayMaxMs } = options;
    this.#network = new Network(world, this.#cloud, { loss, duplication, delayMs, delayMaxMs });
    this.#edge = new Edge(world, parts, { door: this.#door, network: this.#network, cloud: this.#cloud });
    this.#business = new Business(this.#cloud);
  }

  happened(): ReadonlyMap<string, number> {
    const crashes = this.#processes.reduce((sum, { boot }) => sum + boot - 1, 0);
    return new Map([...this.ledger.happened, ['crash', crashes], ['lie', this.#edge.liar.count], ['cut', this.#cuts]]);
  }

  get #processes(): readonly Process[] {
    return [...this.#cloud.nodes, this.#door.process, this.#edge.process];
  }

  run(): void {
    const { activeMs } = this.#options;
    this.#arm();
    for (const process of this.#processes) process.start();
    this.world.runUntil(activeMs);
    this.#heal();
    // Where clocks were set back, what waits for a time waits longer.
    this.#settle(activeMs + healMs + this.ledger.clockSetMs);
    this.#checkEnd();
    this.#calmRevocation();
  }

  /** Repeats an act at about that interval while things may go wrong. */
  #repeat(everyMs: number, act: () => void): void {
    const again = () => {
      if (!this.#isActive) return;
      act();
      this.world.after(everyMs * (0.3 + 1.4 * this.world.random.next()), again);
    };
    this.world.after(everyMs * this.world.random.next(), again);
  }

  #arm(): void {
    const { world } = this;
    const options = this.#options;
    this.#repeat(options.changeEveryMs, () => this.#business.act());
    this.#repeat(options.changeEveryMs * 12, () => {
      for (let count = world.random.int(4, 12); count > 0; count -= 1) this.#business.act();
    });
    this.#repeat(options.swipeEveryMs, () => this.#swipe());
    this.#repeat(8_000, () => this.#business.command());
    for (const node of this.#cloud.nodes) node.crashChance = options.cloudCrash;
    this.#door.process.crashChance = options.doorCrash;
    this.#edge.process.crashChance = options.edgeCrash;
    this.#door.diskError = options.diskError;
    this.#cloud.lag = options.lag;
    this.#door.hasBudget = options.hasJournalBudget;
    if (options.hasPartitions) this.#repeat(20_000, () => this.#cut());
    if (options.hasLyingEdge) this.#repeat(9_000, () => this.#lie());
    if (options.hasShortRetention) this.#repeat(10_000, () => this.#forgetOld());
    if (options.hasClockJumps) this.#repeat(30_000, () => this.#setClocks());
    this.#armRestores();
  }

  /** What happens once or twice in a gateway's life. */
  #armRestores(): void {
    const { world } = this;
    const options = this.#options;
    const once = (isWanted: boolean, act: () => void) => {
      if (isWanted) world.after((0.3 + 0.5 * world.random.next()) * options.activeMs, act);
    };
    let oldDatabase: CloudData | undefined;
    let oldDisk: Door['disk'] | undefined;
    world.after((0.1 + 0.2 * world.random.next()) * options.activeMs, () => {
      oldDatabase = backUp(this.#cloud.data);
      oldDisk = this.#door.disk;
    });
    once(options.hasOldDatabase, () => this.#restoreDatabase(oldDatabase));
    once(options.hasOldDisk, () => this.#restoreDisk(oldDisk));
    once(options.hasLostTail, () => this.#loseTail());
    once(options.hasLostReplica, () => this.#loseReplica(oldDisk));
    once(options.hasDrift, () => this.#drift());
  }

  #swipe(): void {
    const { random } = this.world;
    if (!this.#door.process.isUp) return;
    const card = random.int(1, cardCount);
    const door = random.pick(doorNames) ?? 'd1';
    const known = random.chance(0.8) ? this.#someGrant() : undefined;
    this.#door.process.spawn(this.#door.swipe(known?.card ?? card, known?.door ?? door));
  }

  /** Somebody at a door that the facility opens for them, or did a moment ago. */
  #someGrant(): { readonly card: number; readonly door: string } | undefined {
    const { sources, bound } = this.#cloud.data;
    const grants = [...sources.values()].filter(({ kind, key }) => kind === 'grant' && bound.has(doorOfGrant(key)));
    const key = this.world.random.pick(grants)?.key ?? '';
    const credential = sources.get(`credential ${credentialOfGrant(key)}`);
    if (credential?.op !== 'put' || credential.kind !== 'credential') return undefined;
    return { card: credential.card, door: doorOfGrant(key) };
  }

  #cut(): void {
    this.#network.isCut = true;
    this.#cuts += 1;
    this.world.note('link cut');
    this.world.after(this.world.random.int(1_000, 40_000), () => this.#mend());
  }

  #mend(): void {
    this.#network.isCut = false;
    this.world.note('link mended');
    this.#edge.give({ kind: 'link-up' });
  }

  #lie(): void {
    this.#edge.liar.lies = 0.3 + 0.6 * this.world.random.next();
    this.world.after(this.world.random.int(1_000, 20_000), () => {
      this.#edge.liar.lies = 0;
    });
  }

  #forgetOld(): void {
    const { data } = this.#cloud;
    const kept = data.placed.slice(-this.world.random.int(1, 6));
    data.oldestSeq = kept[0]?.firstSeq ?? data.head.seq + 1;
    data.placed = kept;
  }

  #setClocks(): void {
    const { random } = this.world;
    const by = random.int(-120_000, 120_000);
    this.#cloud.clockOffMs += by;
    this.ledger.clockSetMs += Math.abs(by);
    this.#edge.clockOffMs = random.int(-300_000, 300_000);
  }

  #restoreDatabase(old: CloudData | undefined): void {
    if (old === undefined) return;
    this.world.note('an old database is put back');
    for (const node of this.#cloud.nodes) node.crash(3_000);
    this.#cloud.data = old;
    this.#business.forget();
    this.ledger.databaseBack(old);
  }

  /** It takes a person minutes: no command lives so long. */
  #restoreDisk(old: Door['disk'] | undefined): void {
    if (old === undefined) return;
    this.world.note('an old disk is put back');
    this.#door.process.crash(120_000);
    this.#putBack(old);
  }

  /** A card that lied about writing: the last transactions are gone. */
  #loseTail(): void {
    const { former } = this.#door;
    const old = former[Math.max(0, former.length - 1 - this.world.random.int(1, 4))];
    if (old === undefined) return;
    this.world.note('the end of the disk is lost');
    this.#door.process.crash(70_000);
    this.#putBack(old);
  }

  #putBack(old: Door['disk']): void {
    this.#door.disk = old;
    this.#door.former.length = 0;
    this.ledger.diskBack(old);
  }

  /** Only the replica: gone, or an old one in its place. The journal knows better. */
  #loseReplica(old: Door['disk'] | undefined): void {
    this.world.note('the replica is lost');
    this.#door.process.crash();
    const replica = this.world.random.chance(0.5) ? undefined : old?.replica;
    this.#door.disk = { ...this.#door.disk, replica, staged: undefined };
    this.ledger.replicaBack(replica?.cursor ?? 0);
  }

  /** A row goes astray in a way that its sum follows: a fault of ours, not of the disk. */
  #drift(): void {
    const { replica } = this.#door.disk;
    const name = this.world.random.pick([...(replica?.rows.keys() ?? [])]);
    if (replica === undefined || name === undefined) return;
    this.world.note('a row is lost', name);
    this.#door.process.crash();
    this.#door.loseRow(name);
    this.ledger.drifted();
  }

  #heal(): void {
    this.#isActive = false;
    this.world.note('all faults end');
    for (const process of this.#processes) process.crashChance = 0;
    this.#door.diskError = 0;
    this.#cloud.lag = 0;
    this.#edge.liar.lies = 0;
    Object.assign(this.#network.faults, { loss: 0, duplication: 0, delayMaxMs: 300 });
    if (this.#network.isCut) this.#mend();
  }

  #settle(until: number): void {
    while (this.world.now < until && this.#unsettled() !== undefined) this.world.runUntil(this.world.now + 1_000);
    const what = this.#unsettled();
    this.world.check(what === undefined, 'after the faults everything comes right', what);
  }

  /** @returns what is not yet as it must be. */
  #unsettled(): string | undefined {
    const { data } = this.#cloud;
    const { disk, inUse } = this.#door;
    if (this.#processes.some(({ isUp }) => !isUp)) return 'a process is down';
    if (data.queue.length > 0) return 'changes wait for a number';
    if (inUse === undefined || inUse.cursor !== data.head.seq)
      return `the replica stands at ${inUse?.cursor} of ${data.head.seq}`;
    if (inUse.digest !== this.#cloud.digest) return 'the replica differs';
    if (data.acked?.isSame !== true || data.acked.cursor !== data.head.seq) return 'the ack is missing';
    const { journal } = disk;
    if (journal.acked !== journal.tip) return `history is answered for up to ${journal.acked} of ${journal.tip}`;
    const open = [...data.commands].find(([, { state }]) => state === 'queued' || state === 'delivered');
    return open && `command ${open[0]} is ${open[1].state}`;
  }

  #checkEnd(): void {
    const { data } = this.#cloud;
    const { world, ledger } = this;
    for (const [name, { isEffective }] of data.deliveries)
      world.check(isEffective, 'in the end all is effective', name);
    const wanted = [...data.sources.values()].filter(
      (draft) => draft.kind !== 'grant' || data.bound.has(doorOfGrant(draft.key)),
    );
    world.check(wanted.length === data.mirror.size, 'the feed says what the facility says', [
      wanted.length,
      data.mirror.size,
    ]);
    for (const draft of wanted) {
      const held = data.mirror.get(`${draft.kind} ${draft.key}`);
      const isSame =
        held !== undefined &&
        (draft.kind !== 'credential' ||
          draft.op !== 'put' ||
          (held.put.kind === 'credential' && held.put.row.status === draft.status));
      world.check(isSame, 'the feed says what the facility says', draft);
    }
    if (!ledger.isDatabaseOld) {
      ledger.complete(data);
      for (const { kind, requestId } of data.entries.values())
        if (kind === 'lock.released' && requestId !== null)
          world.check(data.commands.get(requestId)?.state === 'executed', 'what was done is reported', requestId);
    }
  }

  /** With nothing in the way, a revocation is effective within a second and two round trips. */
  #calmRevocation(): void {
    // The last call that died with a node is given up by then.
    this.world.runUntil(this.world.now + 40_000);
    const before = this.#cloud.data.head.seq;
    const began = this.world.now;
    const { data } = this.#cloud;
    const credential = [...data.sources.values()].find(
      (draft) => draft.op === 'put' && draft.kind === 'credential' && draft.status === 'issued',
    );
    if (credential?.op !== 'put' || credential.kind !== 'credential') return;
    const suspended = { ...credential, status: 'suspended' as const };
    data.sources.set(`credential ${credential.key}`, suspended);
    data.queue.push({ id: Number.MAX_SAFE_INTEGER, drafts: [suspended] });
    this.#cloud.queued.fire();
    const limit = 1_000 + 8 * this.#options.delayMs + 4 * this.#network.faults.delayMaxMs + 300;
    const isDone = () =>
      data.head.seq > before && [...data.deliveries.values()].every(({ isEffective }) => isEffective);
    while (!isDone() && this.world.now < began + limit) this.world.runUntil(this.world.now + 20);
    this.world.check(isDone(), 'a revocation in calm is effective in time', this.world.now - began);
  }
}
