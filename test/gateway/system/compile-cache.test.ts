import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isOurs } from '#gateway/system/compile-cache.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-compiled-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'compiled');
}

it('makes a folder that nobody else may enter', () => {
  const folder = place();
  expect(isOurs(folder)).toBe(true);
  expect(existsSync(folder)).toBe(true);
  expect(isOurs(folder)).toBe(true);
});

it.each([0o777, 0o770, 0o755, 0o701])('takes nothing from a folder of mode %o', (mode) => {
  const folder = place();
  mkdirSync(folder);
  chmodSync(folder, mode);
  expect(isOurs(folder)).toBe(false);
});

it('takes nothing through a link, nor from a file', () => {
  const link = place();
  const target = place();
  mkdirSync(target, { mode: 0o700 });
  symlinkSync(target, link);
  expect(isOurs(link)).toBe(false);
  const file = place();
  writeFileSync(file, '', { mode: 0o600 });
  expect(isOurs(file)).toBe(false);
});

it.runIf(process.getuid?.() === 0)('takes nothing from a folder of another user', () => {
  const folder = place();
  mkdirSync(folder, { mode: 0o700 });
  chownSync(folder, 65_534, 65_534);
  expect(isOurs(folder)).toBe(false);
});

it('does without where no folder can be made', () => {
  expect(isOurs('/nowhere/at/all')).toBe(false);
});
