/**
 * The site as the main thread sees it: keys and devices, read once at the start, changed through the journal thread.
 *
 * Guarantees: a change resolves when it is on the disk, and is visible here only then; keys lie here sealed, and are
 * opened one by one when they are asked for.
 * Not promised: seeing what another process writes. Nobody else may.
 */
import type { DeviceId } from '#shared/identifier.ts';
import { invariant } from '#shared/invariant.ts';
import { sealBytes, unsealBytes } from './sealed-keys.ts';
import type { DeviceRecord, SiteChange, SiteRows } from './site-rows.ts';

export interface SiteStorePort {
  rows(): Promise<SiteRows>;
  /** Durable when it resolves. @throws StoreFault */
  change(change: SiteChange): Promise<void>;
}

export interface SiteOptions {
  readonly store: SiteStorePort;
  /** 32 bytes. */
  readonly masterKey: Uint8Array;
}

/** `scbk/<device>`, `lookup-key`, `row-key` …: lower case, at most 128 characters. */
const keyName = /^[a-z0-9][A-Za-z0-9._/-]{0,127}$/;
const keyBytesMax = 4_096;

export interface Site {
  /** Replaces a key of that name. Durable when it resolves. @throws StoreFault */
  sealKey(name: string, bytes: Uint8Array): Promise<void>;
  /** @returns a fresh copy, for the caller to wipe; `undefined` if there is none. */
  unsealKey(name: string): Uint8Array | undefined;
  dropKey(name: string): Promise<void>;
  keyNames(): readonly string[];
  devices(): readonly DeviceRecord[];
  device(id: DeviceId): DeviceRecord | undefined;
  /** Keeps what was learned at an enrolment. A device that once refused the default key goes on refusing it. */
  pinDevice(record: DeviceRecord): Promise<void>;
  /** After it, whatever answers at the address is new. */
  forgetDevice(id: DeviceId): Promise<void>;
}

/** @throws StoreFault */
export async function openSite({ store, masterKey }: SiteOptions): Promise<Site> {
  const rows = await store.rows();
  const keys = new Map(rows.keys.map(({ name, sealed }) => [name, sealed]));
  const devices = new Map(rows.devices.map((record) => [record.id, record]));
  return {
    async sealKey(name, bytes) {
      invariant(keyName.test(name), `a key's name is plain text, got ${JSON.stringify(name)}`);
      invariant(bytes.length > 0 && bytes.length <= keyBytesMax, `a key has 1 to ${keyBytesMax} bytes`);
      const sealed = sealBytes(masterKey, name, bytes);
      await store.change({ kind: 'put-key', row: { name, sealed } });
      keys.set(name, sealed);
    },
    unsealKey(name) {
      const sealed = keys.get(name);
      if (!sealed) return undefined;
      const bytes = unsealBytes(masterKey, name, sealed);
      invariant(bytes, `the key ${name} opened when its row was verified`);
      return bytes;
    },
    async dropKey(name) {
      await store.change({ kind: 'drop-key', name });
      keys.delete(name);
    },
    keyNames: () => [...keys.keys()],
    devices: () => [...devices.values()],
    device: (id) => devices.get(id),
    async pinDevice(record) {
      const refusesDefaultKey = record.refusesDefaultKey || devices.get(record.id)?.refusesDefaultKey === true;
      const pinned = { ...record, refusesDefaultKey };
      await store.change({ kind: 'put-device', record: pinned });
      devices.set(record.id, pinned);
    },
    async forgetDevice(id) {
      await store.change({ kind: 'forget-device', id });
      devices.delete(id);
    },
  };
}
