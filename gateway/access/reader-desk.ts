/**
 * Turns reads and keys at each reader into requests, in the order in which they came.
 *
 * Guarantees: one request at a time for each reader, at most `waitingMax` waiting; what is beyond that is dropped, counted
 * and said once a burst, since a reader that floods must delay neither the others nor the journal.
 */
import type { DeviceId, RequestId } from '#shared/identifier.ts';
import { elapsedMs, type MonoMs } from '#shared/instant.ts';
import type { DeviceEvent } from '../device/driver.ts';
import type { AccessRequest, CardBits } from '../door/access-request.ts';
import { opensChallenge } from '../door/decide-access.ts';
import type { Decision } from '../door/decision.ts';
import {
  emptyKeypad,
  type KeypadEntry,
  type KeypadInput,
  nextKeypadDeadline,
  stepKeypad,
} from '../door/keypad-entry.ts';

export interface ReaderDeskPorts {
  readonly now: () => MonoMs;
  readonly newRequestId: () => RequestId;
  readonly present: (request: AccessRequest) => Promise<Decision>;
  /** A challenge ran out: the reader shows what it shows when nobody is there. */
  readonly showIdle: (device: DeviceId, head: number) => void;
  /** So many reads came faster than they could be decided. */
  readonly dropped: (device: DeviceId, count: number) => void;
}

interface Head {
  readonly device: DeviceId;
  readonly head: number;
  keypad: KeypadEntry;
  timer: NodeJS.Timeout | undefined;
  waiting: number;
  dropped: number;
  /** When the first of them was dropped. */
  droppedSince: MonoMs;
  turn: Promise<void>;
  /** Its device left, or the desk closed: what is still being decided here arms nothing any more. */
  isGone: boolean;
}

/** A person presents one thing at a time; a burst is a fault or an attack. */
const waitingMax = 4;
/** A burst that does not end is said this often. */
const longestBurstMs = 60_000;

export class ReaderDesk {
  readonly #heads = new Map<string, Head>();
  readonly #ports: ReaderDeskPorts;

  constructor(ports: ReaderDeskPorts) {
    this.#ports = ports;
  }

  card({ device, head, bitCount, bytes, at }: Extract<DeviceEvent, { kind: 'card' }>): void {
    const place = this.#headOf(device, head);
    this.#step(place, { kind: 'card', at });
    this.#ask(place, { kind: 'card', card: { bitCount, bytes } }, at);
  }

  keys({ device, head, keys, at }: Extract<DeviceEvent, { kind: 'keys' }>): void {
    this.#step(this.#headOf(device, head), { kind: 'keys', keys, at });
  }

  forget(device: DeviceId): void {
    for (const [key, place] of this.#heads) {
      if (place.device !== device) continue;
      this.#end(place);
      this.#heads.delete(key);
    }
  }

  close(): void {
    for (const place of this.#heads.values()) this.#end(place);
    this.#heads.clear();
  }

  #end(place: Head): void {
    clearTimeout(place.timer);
    place.isGone = true;
    this.#sayDropped(place);
  }

  #sayDropped(place: Head): void {
    if (place.dropped > 0) this.#ports.dropped(place.device, place.dropped);
    place.dropped = 0;
  }

  #headOf(device: DeviceId, head: number): Head {
    const key = `${device} ${head}`;
    const known = this.#heads.get(key);
    if (known) return known;
    const fresh: Head = {
      device,
      head,
      keypad: emptyKeypad,
      timer: undefined,
      waiting: 0,
      dropped: 0,
      droppedSince: this.#ports.now(),
      turn: Promise.resolve(),
      isGone: false,
    };
    this.#heads.set(key, fresh);
    return fresh;
  }

  #step(place: Head, input: KeypadInput): void {
    const { state, entered, isChallengeOver } = stepKeypad(place.keypad, input);
    place.keypad = state;
    if (isChallengeOver) this.#ports.showIdle(place.device, place.head);
    for (const { presented, receivedAt } of entered) this.#ask(place, presented, receivedAt);
    clearTimeout(place.timer);
    const due = nextKeypadDeadline(state);
    if (due === undefined) return;
    const wait = Math.max(0, Math.ceil(elapsedMs(this.#ports.now(), due)));
    place.timer = setTimeout(() => this.#step(place, { kind: 'tick', at: this.#ports.now() }), wait);
  }

  #ask(place: Head, presented: AccessRequest['presented'], receivedAt: MonoMs): void {
    if (place.waiting >= waitingMax) {
      this.#drop(place);
      return;
    }
    place.waiting += 1;
    const { device, head } = place;
    const request = { requestId: this.#ports.newRequestId(), device, head, presented, receivedAt, deviceAgeMs: 0 };
    const decide = async () => {
      const decision = await this.#ports.present(request);
      place.waiting -= 1;
      if (place.waiting === 0) this.#sayDropped(place);
      if (presented.kind === 'card' && opensChallenge(decision)) this.#challenge(place, presented.card);
    };
    // The first of a quiet reader starts at once; a promise's turn costs nothing measurable but order.
    place.turn = place.waiting === 1 ? decide() : place.turn.then(decide);
  }

  #drop(place: Head): void {
    const at = this.#ports.now();
    if (place.dropped === 0) place.droppedSince = at;
    place.dropped += 1;
    if (elapsedMs(place.droppedSince, at) >= longestBurstMs) this.#sayDropped(place);
  }

  #challenge(place: Head, card: CardBits): void {
    if (place.isGone) return;
    this.#step(place, { kind: 'challenged', card, at: this.#ports.now() });
  }
}
