/**
 * Whether a reader is the one that was enrolled, and whether two answers of one reader agree.
 */
import { type CapabilitiesReply, capabilityFunction, findCapability } from './reply/capabilities.ts';
import type { IdentityReply } from './reply/identity.ts';

/** Vendor, model and serial must match; versions and firmware move with updates. Nothing expected means any reader. */
export function isSameReader(expected: IdentityReply | undefined, found: IdentityReply | undefined): boolean {
  if (expected === undefined) return true;
  return found?.vendor === expected.vendor && found.model === expected.model && found.serial === expected.serial;
}

/** Whether both answers are the same to the last field. */
export function isSameIdentity(one: IdentityReply | undefined, other: IdentityReply): boolean {
  return (
    isSameReader(other, one) &&
    one?.version === other.version &&
    one.firmware.major === other.firmware.major &&
    one.firmware.minor === other.firmware.minor &&
    one.firmware.build === other.firmware.build
  );
}

export function isSameCapabilities(one: CapabilitiesReply, other: CapabilitiesReply): boolean {
  const inOrder = (reply: CapabilitiesReply): string[] =>
    reply.capabilities.map((entry) => `${entry.function}:${entry.level}:${entry.count}`);
  return inOrder(one).join() === inOrder(other).join();
}

const aes128 = 1;

/** Whether the answer says that the reader cannot encrypt. A claim, never a reason to speak in plain. */
export function deniesEncryption(reply: CapabilitiesReply): boolean {
  const security = findCapability(reply, capabilityFunction.security);
  return security !== undefined && (security.level & aes128) === 0;
}

/** Whether the answer names at least one of something. */
export function countsAny(reply: CapabilitiesReply, number: number): boolean {
  return (findCapability(reply, number)?.count ?? 0) > 0;
}
