import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyedHash, deriveHashKey } from '#shared/keyed-hash.ts';

test('gives the test values of RFC 4231', () => {
  expect(createKeyedHash(new Uint8Array(20).fill(0x0b))('Hi There')).toBe(
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  );
  expect(createKeyedHash(Buffer.from('Jefe'))('what do ya want for nothing?')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
  expect(
    createKeyedHash(new Uint8Array(131).fill(0xaa))('Test Using Larger Than Block-Size Key - Hash Key First'),
  ).toBe('60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54');
});

test('agrees with the runtime’s HMAC for keys and texts of every length, one after another', () => {
  for (let round = 0; round < 300; round += 1) {
    const key = randomBytes(randomInt(0, 140));
    const keyed = createKeyedHash(key);
    for (const length of [0, 1, randomInt(2, 200), randomInt(200, 6_000), 3]) {
      const text = `${'閂x'.repeat(length)}${round}`;
      expect(keyed(text), key.toString('hex')).toBe(createHmac('sha256', key).update(text).digest('hex'));
    }
  }
});

test('derives another key for another purpose', () => {
  const key = new Uint8Array(32).fill(7);
  expect(deriveHashKey(key, 'row')).not.toEqual(deriveHashKey(key, 'head'));
  expect(deriveHashKey(key, 'row')).toHaveLength(32);
});
