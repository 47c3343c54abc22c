/**
 * People at the readers and an operator at the command line, for as long as the gateway lives: load, and a memory of
 * what each of them was told.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { CommandOutcome } from '#gateway/access/command-desk.ts';
import { ControlLost } from '#gateway/control/edge-side.ts';
import { ControlRefusal } from '#gateway/control/messages.ts';
import { identifier } from '#shared/identifier.ts';
import type { OpenGateway } from './running-gateway.ts';
import { cards, type HouseReader, houseReaders, type TestHouse } from './test-house.ts';

const modes = ['controlled', 'lockdown', 'free'] as const;
const patienceMs = 2_000;
export type YardMode = (typeof modes)[number];

export class Crowd {
  /** How often each card was presented, by credential. */
  readonly presented = new Map<string, number>();
  /** Requests of operators that were answered with yes. */
  readonly answered: string[] = [];
  /** What the yard's mode may be: as last answered, and as asked since without an answer. */
  #yard: readonly YardMode[] = ['controlled'];
  readonly #house: TestHouse;
  readonly #random: () => number;

  constructor(house: TestHouse, random: () => number) {
    this.#house = house;
    this.#random = random;
  }

  get yardModes(): readonly YardMode[] {
    return this.#yard;
  }

  /** What the yard's mode turned out to be at a start. */
  foundYard(mode: string | undefined): void {
    this.#yard = modes.filter((each) => each === mode);
  }

  async present(reader: HouseReader, card: number): Promise<void> {
    const credential = `card-${card}`;
    this.presented.set(credential, (this.presented.get(credential) ?? 0) + 1);
    await this.#house.present(reader, card);
  }

  /** Comes and goes until the gateway is gone. */
  async besiege(gateway: OpenGateway, options: { readonly isYardLeftAlone?: boolean } = {}): Promise<void> {
    const ended = { is: false };
    void gateway.lost.then(() => {
      ended.is = true;
    });
    const people = houseReaders.map((reader) => this.#queueAt(reader, gateway, ended));
    await Promise.all([...people, this.#operate(gateway, ended, options.isYardLeftAlone === true)]);
  }

  /** One after the other: who comes next waits until the reader has answered, or gives up on it. */
  async #queueAt(reader: HouseReader, { seen }: OpenGateway, ended: { readonly is: boolean }): Promise<void> {
    const known = [cards.aiko, cards.mei, cards.coin, cards.coin, cards.guest, cards.revoked, cards.stranger];
    const answers = () => seen.filter(({ body }) => body['device'] === reader).length;
    while (!ended.is) {
      const before = answers();
      const patience = performance.now() + patienceMs;
      await this.present(reader, this.#pick(known));
      while (!ended.is && answers() === before && performance.now() < patience) await pause(5);
      await pause(this.#random() * 30);
    }
  }

  async #operate(gateway: OpenGateway, ended: { readonly is: boolean }, isYardLeftAlone: boolean): Promise<void> {
    while (!ended.is) {
      if (isYardLeftAlone || this.#random() < 0.5) await this.#release(gateway);
      else await this.#setMode(gateway, this.#pick(modes));
      await pause(20 + this.#random() * 150);
    }
  }

  async #release({ client }: OpenGateway): Promise<void> {
    const door = identifier<'door'>(this.#pick(['front', 'back']));
    const outcome = await answerOf(client.call('release', { door }));
    if (outcome !== undefined) this.answered.push(outcome.requestId);
  }

  async #setMode({ client }: OpenGateway, mode: YardMode): Promise<void> {
    this.#yard = [...this.#yard, mode];
    const outcomes = await answerOf(client.call('mode', { door: identifier<'door'>('yard'), mode }));
    if (outcomes === undefined) return;
    this.answered.push(...[outcomes].flat().map(({ requestId }) => requestId));
    this.#yard = [mode];
  }

  #pick<Value>(from: readonly Value[]): Value {
    const value = from[Math.floor(this.#random() * from.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  }
}

/** @returns `undefined` where the gateway said no, or went away before it said anything. */
async function answerOf(call: Promise<unknown>): Promise<CommandOutcome | undefined> {
  try {
    return (await call) as CommandOutcome;
  } catch (error) {
    if (error instanceof ControlRefusal || error instanceof ControlLost) return undefined;
    throw error;
  }
}
