import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSchedule, sweepOnce } from '#cloud/worker/schedule.ts';
import { openTestDatabase, type TestDatabase } from '../../database/open-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(async () => {
  await database.close();
});

describe('a sweep', () => {
  it('runs on one node at a time, and on the other as soon as it is free', async () => {
    let end: () => void = () => undefined;
    let begun: () => void = () => undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const mayEnd = new Promise<void>((resolve) => {
      end = resolve;
    });
    const run = async (): Promise<void> => {
      begun();
      await mayEnd;
    };
    const first = sweepOnce(database.worker, { name: 'lone', everyMs: 1, run });
    await isBegun;
    expect(await sweepOnce(database.worker, { name: 'lone', everyMs: 1, run: async () => undefined })).toBe(false);
    expect(await sweepOnce(database.worker, { name: 'other', everyMs: 1, run: async () => undefined })).toBe(true);
    end();
    expect(await first).toBe(true);
    expect(await sweepOnce(database.worker, { name: 'lone', everyMs: 1, run: async () => undefined })).toBe(true);
  });

  it('that fails is told and tried at its next turn, and holds up no other', async () => {
    const stop = new AbortController();
    const faults: string[] = [];
    let [tries, others] = [0, 0];
    const running = runSchedule(
      {
        database: database.worker,
        onFault: (name) => faults.push(name),
        sweeps: [
          {
            name: 'fails',
            everyMs: 1,
            run: async () => {
              tries += 1;
              throw new Error('no');
            },
          },
          {
            name: 'works',
            everyMs: 1,
            run: async () => {
              others += 1;
            },
          },
        ],
      },
      stop.signal,
    );
    await expect.poll(() => Math.min(tries, others), { timeout: 20_000 }).toBeGreaterThan(2);
    stop.abort();
    await running;
    expect(faults.length).toBe(tries);
    expect(new Set(faults)).toEqual(new Set(['fails']));
  });
});
