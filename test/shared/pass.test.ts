import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { type Pass, passDoorsMax, passTextMax } from '#shared/contract/pass.ts';
import { identifier } from '#shared/identifier.ts';
import { signPass, verifyPass } from '#shared/pass.ts';
import { signStatement } from '#shared/signed-statement.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const id = (prefix: string, at = 0): string => `${prefix}_01KBBBBBBBBBBBBBBBBBBBBBB${String(at % 10)}`;
const pass: Pass = {
  id: identifier(id('crd')),
  facility: identifier(id('fac')),
  doors: [identifier(id('dor'))],
  from: 1_796_000_000_000,
  until: 1_796_086_400_000,
  leaseMs: 86_400_000,
  once: false,
};
const doors = (count: number) => Array.from({ length: count }, (_, at) => identifier<'door'>(id('dor', at)));
const expected = { key: publicKey, facility: pass.facility };

async function signed(of: Pass): Promise<string> {
  const text = await signPass(of, privateKey);
  if (text === undefined) throw new Error('too large');
  return text;
}

it('verifies what was signed, for this facility', async () => {
  expect(await verifyPass(await signed(pass), expected)).toEqual({ kind: 'verified', value: pass });
});

it('fits a QR code of version 16 with one door (450 bytes at level M)', async () => {
  expect((await signed(pass)).length).toBeLessThanOrEqual(450);
});

it('is made for as many doors as phones show well, and not for more', async () => {
  expect((await signed({ ...pass, doors: doors(12) })).length).toBeLessThanOrEqual(passTextMax);
  expect(await signPass({ ...pass, doors: doors(passDoorsMax) }, privateKey)).toBeUndefined();
});

it('rejects another facility, another key, another statement, and one that ends before it begins', async () => {
  const text = await signed(pass);
  expect(await verifyPass(text, { ...expected, facility: 'fac_other' })).toMatchObject({ kind: 'rejected' });
  const other = generateKeyPairSync('ed25519');
  expect(await verifyPass(text, { ...expected, key: other.publicKey })).toMatchObject({ reason: 'wrong-signature' });
  const lease = await signStatement('kannuki-lease-1', pass, privateKey);
  expect(await verifyPass(lease, expected)).toMatchObject({ reason: 'wrong-type' });
  const backwards = await signed({ ...pass, until: pass.from });
  expect(await verifyPass(backwards, expected)).toMatchObject({ kind: 'rejected' });
});

it('rejects a pass with any bit of it turned, without a throw', async () => {
  const text = await signed(pass);
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] === 'A' ? 'B' : 'A';
    const turned = text.slice(0, at) + letter + text.slice(at + 1);
    const verified = await verifyPass(turned, expected);
    // The last letter of a part carries bits that mean nothing: what is read is the same then.
    if (verified.kind === 'verified') expect(verified.value).toEqual(pass);
  }
});

it('rejects text that is no pass: empty, cut, endless', async () => {
  const text = await signed(pass);
  for (const wrong of ['', '.', '..', text.slice(0, -3), `${text}.x`, 'A'.repeat(100_000)])
    expect(await verifyPass(wrong, expected)).toMatchObject({ kind: 'rejected' });
});
