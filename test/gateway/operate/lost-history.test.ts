import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '#gateway/config.ts';
import { connectControl } from '#gateway/control/edge-side.ts';
import type { StatusReport } from '#gateway/control/replies.ts';
import { runDoor } from '#gateway/run-door.ts';
import type { Logger } from '#gateway/system/logger.ts';
import { ownThreads } from '#gateway/threads.ts';
import { openDoor, spoken } from './running-door.ts';

const quiet: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, fatal: () => {} } as Logger;

/** One run over a folder, from its start to its end. */
async function during<Result>(configFile: string, act: () => Promise<Result>): Promise<Result> {
  const ended = new AbortController();
  const run = runDoor(loadConfig(configFile), { log: quiet, threads: ownThreads, signal: ended.signal });
  try {
    for (;;) {
      const asked = await spoken(['status', '--config', configFile]);
      if (asked.code === 0) break;
    }
    return await act();
  } finally {
    ended.abort();
    await run;
  }
}

test('a journal set aside is said at every start, and its history is not called whole, until nothing is missing', async () => {
  const door = await openDoor();
  await door.stop();
  const ask = () =>
    during(door.configFile, async () => {
      const client = await connectControl(join(door.dir, 'run', 'admin.sock'));
      const { alarms } = (await client.call('status', {})) as StatusReport;
      client.close();
      const verified = await spoken(['verify-journal', '--config', door.configFile]);
      const doctor = await spoken(['doctor', '--config', door.configFile]);
      return { alarms, verified, doctor };
    });
  expect((await ask()).verified).toMatchObject({ code: 0, out: expect.stringContaining('✓') });
  const journal = join(door.dataDir, 'journal.db');
  truncateSync(journal, 0);
  writeFileSync(journal, 'no database any more'.repeat(1_000));
  for (const suffix of ['-wal', '-shm']) rmSync(journal + suffix, { force: true });
  for (let start = 0; start < 2; start += 1) {
    const { alarms, verified, doctor } = await ask();
    const aside = readdirSync(door.dataDir).find((name) => name.startsWith('journal.db.damaged-')) ?? 'none';
    expect(alarms).toMatchObject([{ subject: `gateway ${aside}`, code: 'JOURNAL_DAMAGED' }]);
    expect(doctor.out).toContain(`gateway ${aside}`);
    expect(verified.code).toBe(1);
    expect(verified.out).toContain('begins anew at epoch 2');
    expect(verified.out).toContain(aside);
  }
  for (const name of readdirSync(door.dataDir)) if (name.includes('.damaged-')) rmSync(join(door.dataDir, name));
  const { alarms, verified } = await ask();
  expect(alarms).toEqual([]);
  expect(verified).toMatchObject({ code: 1, out: expect.stringContaining('is gone') });
  await door.remove();
});
