/**
 * Commands on their way to one reader.
 *
 * Guarantees: urgent ones first, otherwise in order; bounded; each is answered exactly once; none is begun after its
 * deadline, and none survives the reader's absence.
 */
import type { CommandOutcome, PanelCommand } from '#protocol/osdp/panel-port.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { CommandResult } from '../driver.ts';

export const queueMax = 16;

interface Waiting {
  readonly id: number;
  readonly command: PanelCommand;
  readonly isUrgent: boolean;
  readonly deadline: MonoMs;
  readonly settle: (result: CommandResult) => void;
}

export class CommandQueue {
  #waiting: readonly Waiting[] = [];
  #begun: Waiting | undefined;
  #lastId = 0;

  get isUrgent(): boolean {
    return (this.#begun ?? this.#waiting[0])?.isUrgent ?? false;
  }

  get isEmpty(): boolean {
    return this.#begun === undefined && this.#waiting.length === 0;
  }

  /** The earliest end of patience; infinite when nothing waits. */
  get earliestDeadline(): number {
    return Math.min(...this.#waiting.map((entry) => entry.deadline));
  }

  add(command: PanelCommand, isUrgent: boolean, deadline: MonoMs): Promise<CommandResult> {
    if (this.#waiting.length >= queueMax) return Promise.resolve({ kind: 'not-executed', reason: 'busy' });
    return new Promise((settle) => {
      this.#lastId += 1;
      const entry: Waiting = { id: this.#lastId, command, isUrgent, deadline, settle };
      const ahead = isUrgent ? this.#waiting.filter((other) => other.isUrgent) : this.#waiting;
      this.#waiting = [...ahead, entry, ...this.#waiting.slice(ahead.length)];
    });
  }

  /** The next to begin, if the one before it has ended. */
  begin(at: MonoMs): Pick<Waiting, 'id' | 'command' | 'deadline'> | undefined {
    this.expire(at);
    if (this.#begun !== undefined) return undefined;
    const [next, ...rest] = this.#waiting;
    this.#waiting = rest;
    this.#begun = next;
    return next;
  }

  end(id: number, outcome: CommandOutcome): void {
    const begun = this.#begun;
    if (begun?.id !== id) return;
    this.#begun = undefined;
    begun.settle(resultOf(outcome));
  }

  expire(at: MonoMs): void {
    const late = this.#waiting.filter((entry) => entry.deadline <= at);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter((entry) => entry.deadline > at);
    for (const entry of late) entry.settle({ kind: 'not-executed', reason: 'expired' });
  }

  /** Gives up what was not begun; what was begun is the session's to answer. */
  clear(): void {
    const given = this.#waiting;
    this.#waiting = [];
    for (const entry of given) entry.settle({ kind: 'not-executed', reason: 'offline' });
  }
}

function resultOf(outcome: CommandOutcome): CommandResult {
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'done' };
    case 'refused':
      return { kind: 'refused', reason: `nak-${outcome.nak}` };
    case 'not-executed':
    case 'unknown':
      return outcome;
  }
}
