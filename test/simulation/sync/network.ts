/** The way between edge and cloud: it loses, doubles, delays, reorders, and is cut. */
import type { Cloud } from './cloud.ts';
import type { Reply } from './statement.ts';
import { Signal, type Task, type World } from './world.ts';

export interface NetworkFaults {
  loss: number;
  duplication: number;
  delayMs: number;
  delayMaxMs: number;
}

export class Network {
  readonly #world: World;
  readonly #cloud: Cloud;
  readonly faults: NetworkFaults;
  isCut = false;

  constructor(world: World, cloud: Cloud, faults: NetworkFaults) {
    this.#world = world;
    this.#cloud = cloud;
    this.faults = faults;
  }

  #travel(arrive: () => void): void {
    const { random } = this.#world;
    if (this.isCut || random.chance(this.faults.loss)) return;
    const isSlow = random.chance(0.05);
    const delay = this.faults.delayMs * (0.5 + random.next()) + (isSlow ? random.next() * this.faults.delayMaxMs : 0);
    this.#world.after(delay, () => {
      if (!this.isCut) arrive();
    });
  }

  /** One request and its answer, or nothing within the time. A request may arrive after it was given up, or twice. */
  *call<Value>(serve: (cloud: Cloud) => Task<Reply<Value>>, timeoutMs: number): Task<Reply<Value> | 'timeout'> {
    const answered = new Signal();
    let answer: Reply<Value> | undefined;
    const arrive = () => {
      this.#cloud.anyNode()?.spawn(serve(this.#cloud), (reply) => {
        this.#travel(() => {
          answer ??= reply;
          answered.fire();
        });
      });
    };
    this.#travel(arrive);
    if (this.#world.random.chance(this.faults.duplication)) this.#travel(arrive);
    yield { signal: answered, timeoutMs };
    return answer ?? 'timeout';
  }
}
