/**
 * What edge keeps of its own: the key that authenticates its requests, and where the cloud is.
 *
 * Guarantees: the key is made once and is for its owner alone; nothing of the door process lies here.
 * Not promised: authority. Whoever has this key can withhold, and nothing else.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chownSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { privateSignKey } from '#shared/signed-statement.ts';
import { isCloudUrl } from '../config-rule.ts';
import type { CloudAddress } from './uplink.ts';

const addressSchema = z.strictObject({
  url: z.string().max(2_048).refine(isCloudUrl),
  caFile: z.string().max(4_096).optional(),
});
const [keyName, addressName] = ['edge.key', 'cloud.json'];

/** The key, made now if there is none. @throws a fault of the disk. */
export function takeEdgeKey(folder: string): KeyObject {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const known = readIfThere(join(folder, keyName));
  if (known !== undefined) return privateSignKey(Buffer.from(known.trim(), 'base64'));
  const { privateKey } = generateKeyPairSync('ed25519');
  const der = privateKey.export({ type: 'pkcs8', format: 'der' });
  writeOwn(folder, keyName, `${der.toString('base64')}\n`);
  return privateKey;
}

/** Where the last enrolment went, if that was kept here. */
export function readCloudAddress(folder: string): CloudAddress | undefined {
  const text = readIfThere(join(folder, addressName));
  if (text === undefined) return undefined;
  try {
    return addressSchema.safeParse(JSON.parse(text)).data;
  } catch {
    // Not JSON: torn, or written by hand. The configuration, or another enrolment, says it anew.
    return undefined;
  }
}

export function keepCloudAddress(folder: string, address: CloudAddress): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeOwn(folder, addressName, `${JSON.stringify(address)}\n`);
}

/** Whole or not at all, for the folder's owner, whoever runs this. */
function writeOwn(folder: string, name: string, text: string): void {
  const part = join(folder, `${name}.part`);
  writeFileSync(part, text, { mode: 0o600, flush: true });
  const { uid, gid } = statSync(folder);
  if (statSync(part).uid !== uid) chownSync(part, uid, gid);
  renameSync(part, join(folder, name));
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
