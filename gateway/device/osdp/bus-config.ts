/** What an OSDP bus is told: its line, its readers, and the few things of the world it needs. Plain values only. */
import type { Check } from '#protocol/osdp/frame.ts';
import type { DeviceId, LineId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { DeviceIdentity } from '../driver.ts';
import type { LineConfig, LineState } from '../line.ts';

export type OsdpSecurity =
  /** Anybody at the wire can read cards and send releases. */
  | { readonly mode: 'plain' }
  | {
      readonly mode: 'secure';
      /** 16 bytes; `undefined` until one is installed: such a reader is identified, never used. */
      readonly key: Uint8Array | undefined;
      /** A key whose installation was cut short: the reader may hold either. */
      readonly candidate?: Uint8Array;
    };

export interface OsdpDeviceConfig {
  readonly id: DeviceId;
  /** 0x00–0x7E, each once on the line. */
  readonly address: number;
  readonly security: OsdpSecurity;
  /** Whether an operator may open an install window for it. */
  readonly allowsInstall: boolean;
  /** As enrolled; another vendor, model or serial at this address alarms. */
  readonly expectedIdentity?: DeviceIdentity;
  /** CRC unless the reader is known to need checksums. */
  readonly check?: Check;
}

export interface OsdpBusConfig {
  readonly line: LineConfig & { readonly id: LineId };
  /** 1–126. */
  readonly devices: readonly OsdpDeviceConfig[];
  /** How often an idle reader is polled, ms; 100 unless told otherwise. A full bus takes longer. */
  readonly pollMs?: number;
}

export interface OsdpBusPorts {
  readonly now: () => MonoMs;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Told on every change of the line. */
  readonly onLine?: (health: LineHealth) => void;
}

export interface LineHealth {
  readonly line: LineId;
  readonly state: LineState;
  readonly since: MonoMs;
  /** What the system said; empty while open. */
  readonly detail: string;
  /** Our own bytes that came back, frames. */
  readonly echoes: number;
  /** Frames of another panel. */
  readonly foreignFrames: number;
  /** Good replies nobody waited for. */
  readonly strayReplies: number;
}
