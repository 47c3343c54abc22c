import { scryptSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createPinHasher, type PinHasher, PinHashFault, pinQueueMax } from '#gateway/replica/pin-hasher.ts';

const salt = '44'.repeat(16);
const thread = new URL('../../../gateway/replica/pin-thread.ts', import.meta.url);
const expected = (digits: string): Buffer =>
  scryptSync(digits, Buffer.from(salt, 'hex'), 32, { N: 16_384, r: 8, p: 1 });

function open(url = thread): PinHasher {
  const pins = createPinHasher(url);
  onTestFinished(() => pins.close());
  return pins;
}

/** A thread that does what the text says, in a file of its own. */
function threadThat(text: string): URL {
  const path = join(mkdtempSync(join(tmpdir(), 'kannuki-pin-')), 'thread.mjs');
  writeFileSync(path, `import { parentPort } from 'node:worker_threads';\n${text}`);
  return pathToFileURL(path);
}

test('gives the hash that a list of PINs was made with, each to who asked', async () => {
  const pins = open();
  const digits = ['1234', '482913', '0000000000'];
  const hashes = await Promise.all(digits.map((pin) => pins.hash(pin, salt)));
  for (const [index, pin] of digits.entries()) expect(Buffer.from(hashes[index] as Uint8Array)).toEqual(expected(pin));
});

test('says busy to one more than may wait, and hears again once one is done', async () => {
  const pins = open();
  const waiting = Array.from({ length: pinQueueMax + 1 }, (_, index) => pins.hash(String(1000 + index), salt));
  expect(waiting).not.toContain('busy');
  expect(pins.hash('9999', salt)).toBe('busy');
  await waiting[0];
  const heard = pins.hash('9999', salt);
  expect(heard).not.toBe('busy');
  expect(await Promise.all([...waiting, heard])).toHaveLength(pinQueueMax + 2);
});

test('fails what waits when its thread fails or ends, and begins a new one for the next', async () => {
  for (const end of [
    "parentPort.on('message', () => { throw new Error('no'); });",
    "parentPort.on('message', () => process.exit(0));",
  ]) {
    const pins = open(threadThat(end));
    const both = [pins.hash('1234', salt), pins.hash('5678', salt)];
    for (const settled of await Promise.allSettled(both)) {
      expect(settled.status).toBe('rejected');
      expect(settled.status === 'rejected' && settled.reason).toBeInstanceOf(PinHashFault);
    }
    await expect(pins.hash('1234', salt)).rejects.toMatchObject({ code: 'PIN_HASH_FAILED' });
  }
});

test('does not wait for ever for a thread that hangs', async () => {
  const pins = open(threadThat("parentPort.on('message', () => {});"));
  await expect(pins.hash('1234', salt)).rejects.toThrow('does not answer');
});
