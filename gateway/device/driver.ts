/**
 * The port between the gateway and everything on a bus or radio.
 *
 * A driver moves facts and commands; it has no policy: it does not know who may enter, only how to ask and tell.
 * Guarantees: a command is sent at most once and never after its deadline; nothing is queued for an absent device;
 * nothing is sent to an output by opening, closing or reconnecting; events older than the connection are discarded, and said.
 * Not promised: that a command whose outcome is `unknown` was not carried out.
 */

import type { AlarmCode } from '#shared/code.ts';
import type { DeviceId, LineId, RequestId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';

export type InputState = 'inactive' | 'active' | 'short' | 'cut' | 'fault' | 'unknown';

/** What a device says it is; compared with what was enrolled, since a swapped reader must alarm. */
export interface DeviceIdentity {
  readonly vendor: string;
  readonly model: string;
  readonly serial: string;
  readonly firmware: string;
}

export type OfflineReason =
  | 'line-down'
  | 'silent'
  | 'key-mismatch'
  | 'security-required'
  | 'identity-changed'
  | 'protocol-fault'
  | 'closed';

export type DeviceEvent = { readonly device: DeviceId; readonly at: MonoMs } & (
  | { readonly kind: 'online'; readonly identity: DeviceIdentity; readonly channel: 'plain' | 'default-key' | 'secure' }
  | { readonly kind: 'offline'; readonly reason: OfflineReason }
  | {
      readonly kind: 'card';
      readonly head: number;
      readonly format: number;
      readonly bitCount: number;
      readonly bytes: Uint8Array;
    }
  /** Keys as pressed: `0`–`9`, `*` (clear), `#` (enter). */
  | { readonly kind: 'keys'; readonly head: number; readonly keys: string }
  /** Reported on every change and after every connection. */
  | { readonly kind: 'input'; readonly input: number; readonly state: InputState }
  | { readonly kind: 'output'; readonly output: number; readonly isActive: boolean }
  | { readonly kind: 'tamper'; readonly isActive: boolean }
  | { readonly kind: 'power'; readonly hasFailed: boolean }
  | { readonly kind: 'alarm'; readonly code: AlarmCode; readonly detail: string }
  /** A read or key that was waiting in the device from before the connection. */
  | { readonly kind: 'discarded'; readonly what: 'card' | 'keys'; readonly reason: 'before-connection' }
  /** A key was installed and proven by a handshake; the shell seals and keeps it. */
  | { readonly kind: 'key-installed'; readonly key: Uint8Array; readonly identity: DeviceIdentity }
);

/** How a lock hangs on an output. */
export interface LockPoint {
  readonly output: number;
  readonly release: 'energise' | 'de-energise';
}

export type FeedbackSignal = 'idle' | 'granted' | 'refused' | 'enter-pin' | 'free' | 'lockdown' | 'held-warning';

export type DeviceCommand =
  /** Passable for `ms`, by the device's own timer, then as it was. */
  | { readonly kind: 'release'; readonly requestId: RequestId; readonly lock: LockPoint; readonly ms: number }
  | { readonly kind: 'secure'; readonly requestId: RequestId; readonly lock: LockPoint }
  /** Passable until told otherwise (free mode). */
  | { readonly kind: 'free'; readonly requestId: RequestId; readonly lock: LockPoint }
  | { readonly kind: 'feedback'; readonly head: number; readonly signal: FeedbackSignal; readonly ms: number };

export type CommandResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Certainly not carried out: the device was absent, or the deadline passed before a byte left. */
  | { readonly kind: 'not-executed'; readonly reason: 'offline' | 'expired' | 'busy' }
  /** Sent, and nobody knows. */
  | { readonly kind: 'unknown' };

export interface DeviceHealth {
  readonly device: DeviceId;
  readonly state: 'online' | 'offline' | 'connecting';
  readonly reason: OfflineReason | undefined;
  readonly channel: 'plain' | 'default-key' | 'secure' | undefined;
  readonly identity: DeviceIdentity | undefined;
  /** Since when it is in this state. */
  readonly since: MonoMs;
  /** Learned turnaround, p50 ms; `undefined` before the first reply. */
  readonly turnaroundMs: number | undefined;
  readonly badFrames: number;
  readonly retries: number;
}

/** Bytes as they passed, for a capture; the watcher redacts before it shows. */
export interface LineTraffic {
  readonly at: MonoMs;
  readonly line: LineId;
  readonly direction: 'to-device' | 'from-device';
  readonly bytes: Uint8Array;
}

export interface DriverCapabilities {
  /** The device ends a release by itself; without it a dead gateway could leave a door released. */
  readonly hasDeviceTimer: boolean;
}

export interface Driver {
  readonly capabilities: DriverCapabilities;
  /** Opens the line and keeps it open, for ever, until `close`. Never throws for a missing device: that is a health. */
  open(onEvent: (event: DeviceEvent) => void): void;
  /** @param deadline after it the command is not begun any more. */
  command(device: DeviceId, command: DeviceCommand, deadline: MonoMs): Promise<CommandResult>;
  /**
   * Lets an operator-armed installation of `key` happen at this device until then; one device at a time.
   * @param key fresh, and already kept where a power cut cannot lose it.
   */
  openInstallWindow(device: DeviceId, until: MonoMs, key: Uint8Array): 'opened' | 'unsupported' | 'unknown-device';
  health(): readonly DeviceHealth[];
  /** Watches the bytes of the line; returns the function that ends it. */
  observe(watcher: (traffic: LineTraffic) => void): () => void;
  close(): Promise<void>;
}
