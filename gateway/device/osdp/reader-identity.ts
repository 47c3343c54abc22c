/** A reader's identity as the driver's port tells it, and back. */
import type { IdentityReply } from '#protocol/osdp/reply/identity.ts';
import type { DeviceIdentity } from '../driver.ts';

/** Numbers in decimal; `vendor` as six hexadecimal digits; `firmware` as major.minor.build. */
export function deviceIdentity(reply: IdentityReply): DeviceIdentity {
  const { major, minor, build } = reply.firmware;
  return {
    vendor: reply.vendor,
    model: String(reply.model),
    serial: String(reply.serial),
    firmware: `${major}.${minor}.${build}`,
  };
}

/** What is compared at the reader. Text that is no number equals no reader's. */
export function expectedReply(identity: DeviceIdentity): IdentityReply {
  return {
    kind: 'identity',
    vendor: identity.vendor,
    model: Number(identity.model),
    version: 0,
    serial: Number(identity.serial),
    firmware: { major: 0, minor: 0, build: 0 },
  };
}
