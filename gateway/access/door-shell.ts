/**
 * Runs one door's machine: feeds it what happens, carries out what it wants.
 *
 * Guarantees: inputs are taken one at a time, in order; a release is handed to the driver only after its grant is durable
 * (the caller's promise) and never later than two seconds after it; one timer, set to what the machine waits for.
 * Not promised: that a command arrives; its result is the machine's next input.
 */
import type { AlarmCode } from '#shared/code.ts';
import type { ReaderRow } from '#shared/contract/replica-row.ts';
import type { DoorId, RequestId } from '#shared/identifier.ts';
import { elapsedMs, later, type MonoMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';
import type { CommandResult, DeviceCommand, FeedbackSignal } from '../device/driver.ts';
import type { CommandAnswer, DoorEffect, DoorInput } from '../door/door-input.ts';
import { stepDoor } from '../door/door-machine.ts';
import { type DoorState, modeOf } from '../door/door-state.ts';
import { nextDeadline, standingSignal } from '../door/door-status.ts';
import type { EntryDraft, StateWrite } from '../journal/entry.ts';

/** A release that has not begun by then is not begun: nobody stands at the door any more. */
const releaseDeadlineMs = 2_000;
const standingDeadlineMs = 5_000;
/** A result that came later than this after its command says so in its entry: the lock moved at some time in between. */
const promptMs = 1_000;
/** Timers of Node hold at most this. */
const longestTimerMs = 2_000_000_000;

/** Journals in order. `urgent` does not wait to share a commit with others. */
export type Recorder = (
  entry: Pick<EntryDraft, 'kind' | 'door' | 'requestId' | 'body'>,
  state: readonly StateWrite[],
  haste: 'urgent' | 'shared',
) => void;

export interface DoorShellPorts {
  readonly now: () => MonoMs;
  readonly command: (device: ReaderRow['device'], command: DeviceCommand, deadline: MonoMs) => Promise<CommandResult>;
  readonly record: Recorder;
  readonly passed: (requestId: RequestId) => void;
  /** The lock certainly did not move for this request. */
  readonly notExecuted: (requestId: RequestId) => void;
  readonly changed: (door: DoorId) => void;
}

export class DoorShell {
  #state: DoorState;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isInFreeHours = false;
  #pendingGrants = 0;
  #answer: CommandAnswer | undefined;
  /** While a late result is taken: how long after it was asked for it came. */
  #lateMs: number | undefined;
  readonly #raised = new Set<AlarmCode>();
  readonly #readers: readonly ReaderRow[];
  readonly #ports: DoorShellPorts;

  constructor(initial: DoorState, readers: readonly ReaderRow[], ports: DoorShellPorts) {
    this.#state = initial;
    this.#readers = readers;
    this.#ports = ports;
  }

  get state(): DoorState {
    return this.#state;
  }

  get alarms(): readonly AlarmCode[] {
    return [...this.#raised];
  }

  get readerDevices(): ReadonlySet<ReaderRow['device']> {
    return new Set(this.#readers.map(({ device }) => device));
  }

  /** Whether a grant was decided here that the machine has not heard of yet: the door does not count as secured then. */
  get isGrantPending(): boolean {
    return this.#pendingGrants > 0;
  }

  /** Marks a grant that waits for the journal; returns the function that ends the wait. */
  expectGrant(): () => void {
    let isOver = false;
    this.#pendingGrants += 1;
    return () => {
      if (!isOver) this.#pendingGrants -= 1;
      isOver = true;
    };
  }

  /** Tells the door of its free hours at their edges only: what an operator ends inside them stays ended. */
  tellFree(isInside: boolean, at: MonoMs): void {
    if (isInside === this.#isInFreeHours) return;
    this.#isInFreeHours = isInside;
    this.step({ kind: 'free-schedule', at, isInside });
  }

  step(input: DoorInput): void {
    // What a replaced door still had on its way is told to its end, and starts nothing.
    if (this.#isClosed && input.kind !== 'result') return;
    const before = this.#state;
    const { state, effects } = stepDoor(before, input);
    this.#state = state;
    for (const effect of effects) if (!this.#isClosed || isTelling(effect)) this.#perform(effect);
    this.#arm();
    if (this.#isClosed) return;
    if (before.status.kind !== state.status.kind || modeOf(before.mode) !== modeOf(state.mode))
      this.#ports.changed(state.row.id);
  }

  /** As `step` for an operator's command, and its answer. */
  command(input: Extract<DoorInput, { kind: 'command' }>): CommandAnswer {
    this.#answer = undefined;
    this.step(input);
    return this.#answer ?? 'INTERNAL_FAULT';
  }

  /** Shows the readers of a device that has come (back) what they should show. */
  greetDevice(device: ReaderRow['device']): void {
    for (const reader of this.#readers) if (reader.device === device) this.#show(reader, standingSignal(this.#state));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** As `close`, for a door that is no more or begins anew: its alarms are over with it. */
  retire(): void {
    this.close();
    for (const code of this.#raised)
      this.#alarm({ kind: 'alarm', change: 'clear', code, requestId: null, detail: 'the door was changed' });
  }

  #perform(effect: DoorEffect): void {
    switch (effect.kind) {
      case 'release':
      case 'secure':
      case 'free':
        void this.#move(effect);
        return;
      case 'feedback':
        for (const reader of this.#readers) this.#show(reader, effect.signal);
        return;
      case 'journal':
        this.#journal(effect);
        return;
      case 'alarm':
        this.#alarm(effect);
        return;
      case 'passed':
        this.#ports.passed(effect.requestId);
        return;
      case 'answer':
        this.#answer = effect.answer;
        return;
      default:
        unreachable(effect);
    }
  }

  #journal({ entry, state }: Extract<DoorEffect, { kind: 'journal' }>): void {
    const isUndone = entry.kind === 'lock.not-executed' || entry.kind === 'lock.refused';
    if (isUndone && entry.requestId !== null) this.#ports.notExecuted(entry.requestId);
    const isLate = this.#lateMs !== undefined && entry.kind.startsWith('lock.');
    const told = isLate ? { ...entry, body: { ...entry.body, lateMs: this.#lateMs ?? 0 } } : entry;
    this.#ports.record(told, state === undefined ? [] : [state], 'shared');
  }

  async #move(effect: Extract<DoorEffect, { kind: 'release' | 'secure' | 'free' }>): Promise<void> {
    const { lock } = this.#state.row;
    if (lock === null) return;
    const { now, command } = this.#ports;
    const asked = now();
    const deadline = later(asked, effect.kind === 'release' ? releaseDeadlineMs : standingDeadlineMs);
    const result = await command(lock.device, { ...effect, lock }, deadline);
    const at = now();
    const tookMs = Math.round(elapsedMs(asked, at));
    this.#lateMs = tookMs > promptMs ? tookMs : undefined;
    this.step({ kind: 'result', at, requestId: effect.requestId, result });
    this.#lateMs = undefined;
  }

  #alarm({ change, code, detail, requestId }: Extract<DoorEffect, { kind: 'alarm' }>): void {
    const isRaise = change === 'raise';
    if (isRaise) this.#raised.add(code);
    else this.#raised.delete(code);
    const kind = isRaise ? 'alarm.raised' : 'alarm.cleared';
    this.#ports.record(
      { kind, door: this.#state.row.id, requestId, body: { code, detail } },
      [],
      isRaise ? 'urgent' : 'shared',
    );
  }

  #show(reader: ReaderRow, signal: FeedbackSignal): void {
    const { now, command } = this.#ports;
    void command(
      reader.device,
      { kind: 'feedback', head: reader.head, signal, ms: 0 },
      later(now(), standingDeadlineMs),
    );
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const due = nextDeadline(this.#state);
    if (due === undefined || this.#isClosed) return;
    const wait = Math.min(longestTimerMs, Math.max(0, Math.ceil(elapsedMs(this.#ports.now(), due))));
    this.#timer = setTimeout(() => this.step({ kind: 'tick', at: this.#ports.now() }), wait);
  }
}

const isTelling = ({ kind }: DoorEffect): boolean => kind === 'journal' || kind === 'passed';
