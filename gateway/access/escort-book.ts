/** Who waits at which door for a second person. In memory only: after a restart both present again. */
import type { DoorId, HolderId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { Decision } from '../door/decision.ts';
import { type EscortWait, escortWaiting, stepEscort } from '../door/escort.ts';

export class EscortBook {
  readonly #waits = new Map<DoorId, EscortWait>();

  waiting(door: DoorId, at: MonoMs): HolderId | undefined {
    return escortWaiting(this.#waits.get(door), at);
  }

  take(door: DoorId, decision: Decision, at: MonoMs): void {
    const wait = stepEscort(this.#waits.get(door), decision, at);
    if (wait === undefined) this.#waits.delete(door);
    else this.#waits.set(door, wait);
  }
}
