/**
 * What site.db holds, as it passes between the main thread and the thread that writes it.
 */
import type { DeviceId } from '#shared/identifier.ts';
import type { DeviceIdentity } from '../device/driver.ts';

export interface SealedKeyRow {
  /** Such as `scbk/<device>`, `lookup-key`, `row-key`. */
  readonly name: string;
  readonly sealed: Uint8Array;
}

export interface DeviceRecord {
  readonly id: DeviceId;
  /** As learned when it was enrolled. */
  readonly identity: DeviceIdentity;
  /** Wall time, ms. */
  readonly enrolledAt: number;
  /** From its first own key on, for ever: the key that everybody knows is refused. */
  readonly refusesDefaultKey: boolean;
}

export interface JournalEpochRow {
  readonly epoch: number;
  /** Ed25519 public key that leads to every head of that journal, raw. */
  readonly firstKey: Uint8Array;
  /** Wall time, ms. */
  readonly begunAt: number;
}

export interface SiteRows {
  readonly keys: readonly SealedKeyRow[];
  readonly devices: readonly DeviceRecord[];
  readonly epochs: readonly JournalEpochRow[];
}

export type SiteChange =
  | { readonly kind: 'put-key'; readonly row: SealedKeyRow }
  | { readonly kind: 'drop-key'; readonly name: string }
  | { readonly kind: 'put-device'; readonly record: DeviceRecord }
  | { readonly kind: 'forget-device'; readonly id: DeviceId }
  | { readonly kind: 'put-epoch'; readonly row: JournalEpochRow };
