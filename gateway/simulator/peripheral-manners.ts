/**
 * Who a simulated peripheral is and what it can: its site entry as the configuration of a peripheral session.
 */
import type { PeripheralConfig } from '#protocol/osdp/peripheral-port.ts';
import { type Capability, capabilityFunction as can } from '#protocol/osdp/reply/capabilities.ts';
import type { SitePeripheral } from './site-file.ts';

/** What faults change about it. */
export interface Manners {
  readonly key: Uint8Array | undefined;
  readonly isInstallMode: boolean;
  readonly serial: number;
}

/** @param installedKey set by a panel in an earlier run; it outweighs the site file. */
export function mannersOf(settings: SitePeripheral, installedKey: Uint8Array | undefined): Manners {
  const { key, identity } = settings;
  const given = typeof key === 'object' && 'hex' in key ? Uint8Array.from(Buffer.from(key.hex, 'hex')) : undefined;
  const own = installedKey ?? given;
  return { key: own, isInstallMode: key === 'install' && own === undefined, serial: identity.serial };
}

/** Another of the same make, as it left the factory. */
export function strangerOf(settings: SitePeripheral): Manners {
  return { key: undefined, isInstallMode: true, serial: (settings.identity.serial ^ 0x5a5a5a) >>> 0 };
}

export function configOf(settings: SitePeripheral, manners: Manners): PeripheralConfig {
  const { identity, address } = settings;
  const [major, minor, build] = identity.firmware;
  return {
    address,
    ...(manners.key === undefined ? {} : { key: manners.key }),
    isInstallMode: manners.isInstallMode,
    requireSecure: settings.requiresSecurity && settings.key !== 'plain',
    identity: {
      kind: 'identity',
      vendor: identity.vendor.toLowerCase(),
      model: identity.model,
      version: identity.version,
      serial: manners.serial,
      firmware: { major, minor, build },
    },
    capabilities: capabilitiesOf(settings, manners),
    allowsCommunication: true,
  };
}

function capabilitiesOf({ heads, inputs, outputs, key }: SitePeripheral, manners: Manners): Capability[] {
  const entry = (number: number, level: number, count: number): Capability => ({ function: number, level, count });
  const reader = [
    entry(can.cardData, 1, 0),
    entry(can.leds, 4, 1),
    entry(can.buzzer, 2, heads),
    entry(can.readers, 0, heads),
  ];
  return [
    ...(inputs > 0 ? [entry(can.inputs, 1, inputs)] : []),
    ...(outputs > 0 ? [entry(can.outputs, 2, outputs)] : []),
    ...(heads > 0 ? reader : []),
    entry(can.check, 1, 0),
    ...(key === 'plain' ? [] : [entry(can.security, 1, Number(manners.isInstallMode))]),
    entry(can.receiveBuffer, 0, 2),
    entry(can.version, 2, 0),
  ];
}
