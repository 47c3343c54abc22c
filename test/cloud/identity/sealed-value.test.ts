import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { CloudKeyFault, openCloudKey, readCloudKey } from '#cloud/identity/cloud-key.ts';
import { createSealer, SealBroken } from '#cloud/identity/sealed-value.ts';

const folder = mkdtempSync(join(tmpdir(), 'kannuki-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

const sealer = createSealer(randomBytes(32));
const value = Buffer.from('the lookup key');

it('opens what it sealed, under the same name', () => {
  const sealed = sealer.seal('lookup key fac_1', value);
  expect(sealer.open('lookup key fac_1', sealed)).toEqual(value);
  expect(sealed.includes(value)).toBe(false);
  expect(sealer.open('empty', sealer.seal('empty', Buffer.alloc(0)))).toHaveLength(0);
});

it('seals the same value to other bytes each time', () => {
  expect(sealer.seal('n', value).equals(sealer.seal('n', value))).toBe(false);
});

it('opens nothing under another name or another key', () => {
  const sealed = sealer.seal('lookup key fac_1', value);
  expect(() => sealer.open('lookup key fac_2', sealed)).toThrow(SealBroken);
  expect(() => createSealer(randomBytes(32)).open('lookup key fac_1', sealed)).toThrow(SealBroken);
});

it('opens nothing of which a bit was flipped, or that was cut at any length', () => {
  const sealed = sealer.seal('n', value);
  for (let at = 0; at < sealed.length; at += 1) {
    const flipped = Buffer.from(sealed);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    expect(() => sealer.open('n', flipped), `byte ${at}`).toThrow(SealBroken);
    expect(() => sealer.open('n', sealed.subarray(0, at)), `length ${at}`).toThrow(SealBroken);
  }
});

it('makes a key once, for its user’s eyes only, and reads it again', () => {
  const file = join(folder, 'deep', 'cloud.key');
  const made = openCloudKey(file);
  expect(made).toHaveLength(32);
  expect(openCloudKey(file)).toEqual(made);
  expect(readFileSync(file)).toEqual(made);
  expect(statSync(file).mode & 0o777).toBe(0o400);
});

it('takes no key that others may read, that is no key, or that is not there', () => {
  const codeOf = (file: string) => {
    try {
      readCloudKey(file);
      return 'read';
    } catch (error) {
      return error instanceof CloudKeyFault ? error.code : error;
    }
  };
  const file = join(folder, 'other.key');
  expect(codeOf(file)).toBe('MASTER_KEY_MISSING');
  writeFileSync(file, randomBytes(32), { mode: 0o644 });
  chmodSync(file, 0o644);
  expect(codeOf(file)).toBe('MASTER_KEY_EXPOSED');
  chmodSync(file, 0o600);
  expect(codeOf(file)).toBe('read');
  writeFileSync(file, 'short');
  expect(codeOf(file)).toBe('MASTER_KEY_MALFORMED');
});
