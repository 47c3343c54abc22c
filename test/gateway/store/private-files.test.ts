import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keepFilesPrivate } from '#gateway/store/private-files.ts';

it('takes the gateway’s files from others, and never hides that a key was exposed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-private-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const names = ['journal.db', 'journal.db-wal', 'site.db.damaged-2026', 'gateway.lock', 'replica.json', 'master.key'];
  for (const name of names) {
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o644);
  }
  keepFilesPrivate(folder);
  const modes = names.map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8));
  expect(modes).toEqual(['600', '600', '600', '600', '600', '644']);
});
