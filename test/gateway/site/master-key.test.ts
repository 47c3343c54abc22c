import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMasterKey, credentialName, readMasterKey } from '#gateway/site/master-key.ts';
import { createFolder, type Folder } from '../journal/journal-fixture.ts';

let folder: Folder;
let file: string;
let data: string;
beforeEach(() => {
  folder = createFolder();
  file = join(folder.path, 'master.key');
  data = join(folder.path, 'data');
  mkdirSync(data);
});
afterEach(() => folder.remove());

const read = (credentialsDirectory?: string) => readMasterKey({ credentialsDirectory, file });
const fault = (code: string) => expect.objectContaining({ name: 'MasterKeyFault', code });
function writeKey(path: string, mode: number, bytes = new Uint8Array(32).fill(3)): void {
  writeFileSync(path, bytes);
  chmodSync(path, mode);
}

it('makes a key once, for its owner alone, and reads it back', () => {
  const key = createMasterKey(file, data);
  expect(key).toHaveLength(32);
  expect(statSync(file).mode & 0o777).toBe(0o400);
  expect(read()).toEqual(key);
  expect(() => createMasterKey(file, data)).toThrow(fault('MASTER_KEY_NOT_FRESH'));
});

it('makes two keys that differ', () => {
  expect(createMasterKey(file, data)).not.toEqual(createMasterKey(`${file}-2`, data));
});

it.each(['journal.db', 'site.db-wal', 'journal.db.damaged-2026'])(
  'makes no key beside %s, which it could not open',
  (name) => {
    writeFileSync(join(data, name), '');
    expect(() => createMasterKey(file, data)).toThrow(fault('MASTER_KEY_NOT_FRESH'));
  },
);

it('names a missing key and does not make one', () => {
  expect(() => read()).toThrow(fault('MASTER_KEY_MISSING'));
  expect(() => read()).toThrow(fault('MASTER_KEY_MISSING'));
});

it.each([0o440, 0o404, 0o444, 0o644, 0o660, 0o420, 0o401])('refuses a key of mode %o', (mode) => {
  writeKey(file, mode);
  expect(() => read()).toThrow(fault('MASTER_KEY_EXPOSED'));
});

it.each([0o400, 0o600])('takes a key of mode %o', (mode) => {
  writeKey(file, mode);
  expect(read()).toHaveLength(32);
});

it('judges the file and not the link to it', () => {
  writeKey(`${file}-real`, 0o444);
  symlinkSync(`${file}-real`, file);
  expect(() => read()).toThrow(fault('MASTER_KEY_EXPOSED'));
});

it.each([0, 31, 33, 64])('refuses a key of %d bytes', (length) => {
  writeKey(file, 0o400, new Uint8Array(length));
  expect(() => read()).toThrow(fault('MASTER_KEY_MALFORMED'));
});

it('prefers the credential of the service manager, whose access list shows as the group bit', () => {
  writeKey(join(data, credentialName), 0o440, new Uint8Array(32).fill(9));
  writeKey(file, 0o400);
  expect(read(data)[0]).toBe(9);
  chmodSync(join(data, credentialName), 0o444);
  expect(() => read(data)).toThrow(fault('MASTER_KEY_EXPOSED'));
  expect(read(folder.path)[0]).toBe(3);
});
