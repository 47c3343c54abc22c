/**
 * What a door machine hears and what it wants done. Both are data; the shell translates to and from drivers and journal.
 */
import type { AlarmCode, RefusalCode } from '#shared/code.ts';
import type { DeviceId, DoorId, RequestId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { EntryDraft, EntryKind, StateWrite } from '../journal/entry.ts';
import type { GrantedDecision } from './decide-access.ts';
import type { InputLevel } from './input-reading.ts';

/** The modes a person can command; fire is an input and stands above them. */
export type CommandedMode = 'controlled' | 'free' | 'lockdown';

/** What an operator asks of a door. `ms` of a release: 200–600 000; the door's strike time if left out. */
export type DoorCommand =
  | { readonly kind: 'release'; readonly ms?: number }
  | { readonly kind: 'secure' }
  | { readonly kind: 'mode'; readonly mode: CommandedMode };

/** How a command ended, as drivers tell it. */
export type LockResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'not-executed'; readonly reason: string }
  | { readonly kind: 'unknown' };

export type DoorInput = { readonly at: MonoMs } /** A grant whose entry is durable. */ & (
  | { readonly kind: 'granted'; readonly decision: GrantedDecision }
  /** An operator's command whose entry is durable. */
  | { readonly kind: 'command'; readonly requestId: RequestId; readonly command: DoorCommand }
  /** How the release, secure or free effect of that id ended. */
  | { readonly kind: 'result'; readonly requestId: RequestId; readonly result: LockResult }
  | { readonly kind: 'contact' | 'rex' | 'fire'; readonly level: InputLevel }
  /** The lock's output, read back. */
  | { readonly kind: 'output'; readonly isActive: boolean }
  /** A device came or went; the machine knows which of its points hang on it. */
  | { readonly kind: 'device'; readonly device: DeviceId; readonly isUp: boolean }
  /** The door's free schedule (and first person, where asked) begins or ends. Sent at its edges and once at start. */
  | { readonly kind: 'free-schedule'; readonly isInside: boolean }
  | { readonly kind: 'tick' }
);

/** What a command was answered. Refusals are codes; the rest of its story follows in the journal under its id. */
export type CommandAnswer = 'accepted' | 'already-so' | RefusalCode;

export type DoorSignal = 'idle' | 'free' | 'lockdown' | 'held-warning';

export type DoorEffect =
  /** Passable for `ms` by the device's own timer. Follows a durable grant or command, once per id. */
  | { readonly kind: 'release'; readonly requestId: RequestId; readonly ms: number }
  /** The id is an operator's, or one of the machine's own; a lock may use it to drop repetitions. */
  | { readonly kind: 'secure'; readonly requestId: RequestId }
  | { readonly kind: 'free'; readonly requestId: RequestId }
  /** For every reader of the door, until the next signal. */
  | { readonly kind: 'feedback'; readonly signal: DoorSignal }
  | {
      readonly kind: 'journal';
      readonly entry: {
        readonly kind: EntryKind;
        readonly door: DoorId;
        readonly requestId: RequestId | null;
        readonly body: EntryDraft['body'];
      };
      /** To be written in the transaction of the entry. */
      readonly state?: StateWrite;
    }
  /** Raised and cleared in pairs; the shell keeps the list and journals both. */
  | {
      readonly kind: 'alarm';
      readonly change: 'raise' | 'clear';
      readonly code: AlarmCode;
      readonly requestId: RequestId | null;
      readonly detail: string | undefined;
    }
  /** The holder of this request is through, as far as the door can tell: anti-passback and first person move now. */
  | { readonly kind: 'passed'; readonly requestId: RequestId }
  | { readonly kind: 'answer'; readonly requestId: RequestId; readonly answer: CommandAnswer };
