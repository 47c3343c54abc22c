/** What the door process answers, as types: plain values that survive JSON. */
import type { CanonicalValue } from '#shared/canonical.ts';
import type { Code } from '#shared/code.ts';
import type { CloudStatus } from './sync-replies.ts';

export interface DoorStatus {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly mode: string;
  /** How long it has been so, ms; for `unknown`, since it was last known. */
  readonly ageMs: number;
  readonly alarms: readonly Code[];
  /** Devices of this door that no line of the configuration names. */
  readonly strangers?: readonly string[];
  /** The device of its lock, where that is a reader as well. */
  readonly lockAtReader?: string | undefined;
}

export interface DeviceStatus {
  readonly line: string;
  readonly device: string;
  readonly state: 'online' | 'offline' | 'connecting';
  readonly reason: string | undefined;
  readonly channel: string | undefined;
  readonly identity:
    | { readonly vendor: string; readonly model: string; readonly serial: string; readonly firmware: string }
    | undefined;
  readonly ageMs: number;
  readonly turnaroundMs: number | undefined;
  readonly badFrames: number;
  readonly retries: number;
  /** Whether an installation gave it a key of its own; absent where it never takes one. */
  readonly hasOwnKey?: boolean | undefined;
}

export interface StorageStatus {
  /** Of the disk under the data folder, now. */
  readonly state: 'ok' | 'low' | 'full' | 'read-only' | 'unreachable';
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** What the journal's thread writes to the disk; `undefined` in the first minutes, or where nobody counts. */
  readonly flashBytesPerDay: number | undefined;
  /** The databases that have been read whole since the start, and what was found. */
  readonly files: readonly {
    readonly name: string;
    readonly state: 'sound' | 'damaged' | 'unreadable';
    readonly detail: string;
  }[];
}

export interface StatusReport {
  readonly version: string;
  /** The machine's wall clock, ISO 8601. */
  readonly at: string;
  readonly facility: { readonly name: string; readonly zone: string } | undefined;
  readonly clock: { readonly state: string; readonly now: string | undefined; readonly errorMs: number };
  /** `lastSeq` is absent while the disk cannot be read. */
  readonly journal: { readonly state: string; readonly detail: string; readonly lastSeq: number | undefined };
  readonly replica: { readonly state: string; readonly detail: string; readonly epoch: number };
  readonly storage: StorageStatus;
  readonly doors: readonly DoorStatus[];
  readonly lines: readonly { readonly line: string; readonly state: string; readonly detail: string }[];
  readonly devices: readonly DeviceStatus[];
  /** The way to the cloud; absent where this gateway belongs to none. */
  readonly cloud?: CloudStatus | undefined;
  /** Standing alarms of devices and of the gateway itself. */
  readonly alarms: readonly { readonly subject: string; readonly code: Code; readonly detail: string }[];
}

/** A stream item of `follow`. */
export type FollowItem =
  | { readonly kind: 'entry'; readonly view: import('./entry-view.ts').EntryView }
  | { readonly kind: 'door'; readonly door: DoorStatus };

export interface ExplainStep {
  readonly rank: number;
  /** The codes of the rule, separated by commas. */
  readonly rule: string;
  readonly verdict: 'passed' | 'refused' | 'not-reached';
  readonly code: Code | undefined;
  readonly words: string;
}

/** A fact under its stable name; moments are ms since 1970, lengths ms. */
export interface ExplainFact {
  readonly name: string;
  readonly value: CanonicalValue;
}

export interface ExplainReport {
  readonly verdict: 'granted' | 'refused';
  readonly code: Code;
  /** Of the facility, for whoever shows its moments. */
  readonly zone: string | undefined;
  /** The facts read, in the order in which a person would list them. */
  readonly facts: readonly ExplainFact[];
  readonly steps: readonly ExplainStep[];
}

export interface UnknownRead {
  readonly device: string;
  readonly head: number;
  readonly bitCount: number;
  readonly bits: string;
  readonly ageMs: number;
}

export interface ImportReport {
  /** Every mistake, with file, row, field and rule; while there is one, nothing is imported. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly counts: { readonly [kind: string]: number };
  /** The replica epoch now in force; absent after a dry run or a refusal. */
  readonly epoch: number | undefined;
}
