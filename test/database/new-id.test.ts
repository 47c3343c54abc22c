import { expect, it } from 'vitest';
import { newId } from '#cloud/database/new-id.ts';
import { identifierPattern } from '#shared/identifier.ts';

it('makes ids that are identifiers, differ, and sort by when they were made', async () => {
  const made = Array.from({ length: 1000 }, () => newId('crd'));
  expect(new Set(made).size).toBe(1000);
  for (const id of made) {
    expect(id).toMatch(identifierPattern);
    expect(id).toMatch(/^crd_[0-9A-HJKMNP-TV-Z]{26}$/);
  }
  const before = Date.now();
  const early = newId('crd');
  await expect.poll(() => Date.now()).toBeGreaterThan(before + 1);
  expect(newId('crd') > early).toBe(true);
});

it('begins with the milliseconds of now', () => {
  const before = Date.now();
  const [, text = ''] = newId('crd').split('_');
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  let value = 0n;
  for (const letter of text) value = value * 32n + BigInt(digits.indexOf(letter));
  const at = Number(value >> 80n);
  expect(at).toBeGreaterThanOrEqual(before);
  expect(at).toBeLessThanOrEqual(Date.now());
});
