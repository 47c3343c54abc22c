/**
 * What the relay says of the cloud's answers beside the signed ones: kept in memory, believed as far as it cannot harm.
 *
 * A lie here makes the door process ask for a snapshot or a repair that must then be proven, or keep an ack to itself;
 * both are no more than a relay that withholds.
 */
import { elapsedMs, type MonoMs } from '#shared/instant.ts';
import type { RowKind } from '#shared/replica-digest.ts';
import type { ClockState } from '../door/facts.ts';
import { afterRepair, firstRepair, type RepairTurn } from './repair-turn.ts';

interface Place {
  readonly epoch: number;
  readonly cursor: number;
}

interface FeedNews {
  readonly head: number;
  readonly snapshotNeeded: boolean;
  readonly isUnheard?: boolean | undefined;
}

/** Signed time is asked for again after so long: before a clock without another source counts as aged. */
const timeEveryMs = 10 * 60_000;
/** While the clock is in doubt. */
const timeInDoubtEveryMs = 30_000;
/** Where so many repairs in a row were for nothing, a snapshot is taken. */
const vainRepairsMax = 2;

export class CloudHints {
  #answered: Place | undefined;
  #repair: { readonly place: Place; readonly turn: RepairTurn } | undefined;
  #vainRepairs = 0;
  #snapshotFor: number | undefined;
  /** The epoch for which the cloud wanted a snapshot, before it was told once more where this gateway stands. */
  #wantedFor: number | undefined;
  #timedAt: MonoMs | undefined;
  /** How far the feed reaches, as far as is known. */
  feedHead = 0;
  uplink: { readonly state: string; readonly detail: string; readonly since: MonoMs } | undefined;

  answered({ ack, epoch, cursor }: Place & { readonly ack: 'applied' | 'noop' | 'differs' }): void {
    const place = { epoch, cursor };
    this.#answered = place;
    if (ack !== 'differs') {
      this.#repair = undefined;
      this.#vainRepairs = 0;
    } else if (this.#vainRepairs >= vainRepairsMax) this.#snapshotFor = epoch;
    else this.#repair ??= { place, turn: firstRepair };
  }

  /** The next ack is owed again. */
  forgetAnswer(): void {
    this.#answered = undefined;
  }

  isUnanswered(head: Place): boolean {
    return !isSame(this.#answered, head);
  }

  /**
   * A cloud that was put back from a copy may have forgotten an ack: before a snapshot is taken, and where neither changes nor
   * contact came (`isUnheard`), it is told again.
   */
  fed(told: FeedNews, epoch: number): void {
    this.feedHead = told.head;
    const isToldAgain = this.#wantedFor === epoch && this.#answered !== undefined;
    this.#wantedFor = told.snapshotNeeded ? epoch : undefined;
    if (told.snapshotNeeded && isToldAgain) this.#snapshotFor = epoch;
    else if (told.snapshotNeeded || told.isUnheard) this.forgetAnswer();
  }

  needSnapshot(epoch: number): void {
    this.#snapshotFor = epoch;
  }

  /** @param epoch in force: a need that a new epoch has met is over. */
  isSnapshotNeeded(epoch: number): boolean {
    return this.#snapshotFor === epoch;
  }

  isRepairing(head: Place): boolean {
    return this.#repair !== undefined && isSame(this.#repair.place, head);
  }

  get repairing(): RowKind {
    return (this.#repair?.turn ?? firstRepair).kind;
  }

  repaired(answer: 'repaired' | 'same'): void {
    if (this.#repair === undefined) return;
    const turn = afterRepair(this.#repair.turn, answer);
    const { place } = this.#repair;
    if (turn === 'hopeless') this.#snapshotFor = place.epoch;
    const isOver = turn === 'done' || turn === 'hopeless';
    this.#repair = isOver ? undefined : { place, turn };
    // Whether it helped, the answer to another ack tells.
    if (isOver) this.#answered = undefined;
    if (isOver) this.#vainRepairs += 1;
  }

  timed(at: MonoMs): void {
    this.#timedAt = at;
  }

  isTimeDue(clock: ClockState, at: MonoMs): boolean {
    const every = clock === 'trusted' ? timeEveryMs : timeInDoubtEveryMs;
    return this.#timedAt === undefined || elapsedMs(this.#timedAt, at) >= every;
  }
}

const isSame = (one: Place | undefined, other: Place): boolean =>
  one !== undefined && one.epoch === other.epoch && one.cursor === other.cursor;
