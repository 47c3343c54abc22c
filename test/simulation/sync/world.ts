/**
 * Virtual time and what goes on in it: processes whose work is made of steps, any of which can be the last before a crash.
 *
 * A task is a generator. What it yields is how long it pauses, or what it waits for; each pause is a place where the process
 * can end, and where other tasks go on. Nothing here reads a clock or a source of chance but the seed.
 */
import { Random } from './random.ts';

/** Wakes whoever waits. */
export class Signal {
  readonly #waiting = new Set<() => void>();

  fire(): void {
    const all = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of all) wake();
  }

  add(wake: () => void): void {
    this.#waiting.add(wake);
  }
}

/** A pause in ms, or a signal with the time after which it is waited no longer. `step`: some short time, or the end. */
export type Pause = number | 'step' | { readonly signal: Signal; readonly timeoutMs: number };
/** What a pause returns: whether the signal came. */
export type Task<Result = void> = Generator<Pause, Result, boolean>;

/** A claim about the world that does not hold. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

export class World {
  now = 0;
  readonly random: Random;
  steps = 0;
  #order = 0;
  readonly #heap: Event[] = [];
  readonly #trace: (readonly unknown[])[] = [];
  readonly #traceMax: number;

  constructor(seed: number, traceMax = 400) {
    this.random = new Random(seed);
    this.#traceMax = traceMax;
  }

  /** Kept cheap: the line is put together only if somebody reads it. */
  note(...parts: readonly unknown[]): void {
    this.#trace.push([this.now, ...parts]);
    if (this.#trace.length > 2 * this.#traceMax) this.#trace.splice(0, this.#traceMax);
  }

  trace(): readonly string[] {
    const text = (part: unknown) => (typeof part === 'string' ? part : JSON.stringify(part, bigintText));
    return this.#trace.slice(-this.#traceMax).map((parts) => parts.map(text).join(' '));
  }

  check(holds: boolean, claim: string, detail?: unknown): void {
    if (holds) return;
    throw new Broken(detail === undefined ? claim : `${claim}: ${JSON.stringify(detail, bigintText)}`);
  }

  after(ms: number, act: () => void): void {
    this.#order += 1;
    push(this.#heap, { at: this.now + Math.max(0, ms), order: this.#order, act });
  }

  /** @returns false where nothing happens any more. */
  step(): boolean {
    const event = pop(this.#heap);
    if (event === undefined) return false;
    this.now = event.at;
    this.steps += 1;
    event.act();
    return true;
  }

  runUntil(at: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.at <= at; next = this.#heap[0]) this.step();
    this.now = Math.max(this.now, at);
  }
}

const bigintText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

/** Something that runs, can be killed between any two steps of what it does, and starts again. */
export class Process {
  readonly world: World;
  readonly name: string;
  isUp = false;
  /** Chance that a step is its last. */
  crashChance = 0;
  readonly #life: { readonly start: () => void; readonly end: () => void };
  #boot = 0;

  constructor(world: World, name: string, life: { readonly start: () => void; readonly end: () => void }) {
    this.world = world;
    this.name = name;
    this.#life = life;
  }

  get boot(): number {
    return this.#boot;
  }

  start(): void {
    if (this.isUp) return;
    this.isUp = true;
    this.#boot += 1;
    this.world.note(this.name, 'starts', this.#boot);
    this.#life.start();
  }

  kill(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.world.note(this.name, 'ends');
    this.#life.end();
  }

  /** Runs until it is done or the process is. @param done is told the result; never, if the process ended. */
  spawn<Result>(task: Task<Result>, done: (result: Result) => void = () => undefined): void {
    this.#resume(task, this.#boot, false, done);
  }

  #resume<Result>(task: Task<Result>, boot: number, came: boolean, done: (result: Result) => void): void {
    if (!this.isUp || this.#boot !== boot) return;
    const { value, done: isOver } = task.next(came);
    if (isOver) {
      done(value);
      return;
    }
    if (typeof value === 'object') {
      let isWoken = false;
      const wake = (signalled: boolean) => () => {
        if (isWoken) return;
        isWoken = true;
        this.#resume(task, boot, signalled, done);
      };
      value.signal.add(() => this.world.after(0, wake(true)));
      this.world.after(value.timeoutMs, wake(false));
      return;
    }
    if (value === 'step' && this.crashChance > 0 && this.world.random.chance(this.crashChance)) {
      this.crash();
      return;
    }
    this.world.after(value === 'step' ? this.world.random.next() * 3 : value, () =>
      this.#resume(task, boot, false, done),
    );
  }

  /** Ends now, and starts again after a while. */
  crash(downMs = 50 + this.world.random.next() * 8_000): void {
    this.kill();
    this.world.after(downMs, () => this.start());
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

function push(heap: Event[], event: Event): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(event, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = event;
}

function pop(heap: Event[]): Event | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (top === undefined || last === undefined || heap.length === 0) return top;
  let at = 0;
  for (;;) {
    const left = heap[2 * at + 1];
    const right = heap[2 * at + 2];
    const isRight = left !== undefined && right !== undefined && isBefore(right, left);
    const child = isRight ? right : left;
    if (child === undefined || !isBefore(child, last)) break;
    heap[at] = child;
    at = 2 * at + (isRight ? 2 : 1);
  }
  heap[at] = last;
  return top;
}
