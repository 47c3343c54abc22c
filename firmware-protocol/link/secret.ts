/** What both ends of one link know beforehand. */
import type { NoiseSecret } from './noise.ts';

/** Longest name of a device, bytes. */
const longestDeviceId = 64;

const label = Buffer.from('kannuki-link/1', 'ascii');

/**
 * The key of one device, bound to its name and to this version of the protocol.
 * @param deviceId 1–64 bytes of printable ASCII. @param key 32 bytes, of this device alone.
 * @throws RangeError for a key or name of another length, which is a bug of the caller.
 */
export function linkSecret(deviceId: string, key: Uint8Array): NoiseSecret {
  const id = Buffer.from(deviceId, 'latin1');
  if (key.length !== 32) throw new RangeError(`a key has 32 bytes, not ${key.length}`);
  if (id.length === 0 || id.length > longestDeviceId || !/^[\x20-\x7e]*$/.test(deviceId)) {
    throw new RangeError('a device id has 1–64 printable characters');
  }
  return { key, prologue: Uint8Array.from([...label, ...id]) };
}
