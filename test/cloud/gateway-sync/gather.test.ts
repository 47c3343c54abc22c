import { describe, expect, it } from 'vitest';
import { createGather, type GatherLimits } from '#cloud/gateway-sync/gather.ts';

const limits: GatherLimits = { most: 3, lanes: 1, everyMs: 0, waitingMax: 5 };

/** Questions that end when they are told to. */
function questions(changes: Partial<GatherLimits> = {}) {
  const asked: (readonly number[])[] = [];
  const open: { readonly end: () => void; readonly fail: (error: unknown) => void }[] = [];
  const ask = createGather<number, string>(
    (numbers) =>
      new Promise((resolve, reject) => {
        asked.push(numbers);
        open.push({ end: () => resolve(numbers.map((number) => `answer ${number}`)), fail: reject });
      }),
    { ...limits, ...changes },
  );
  return { ask, asked, open };
}

describe('a question for many callers', () => {
  it('is asked at once for the first, and for all that came meanwhile by the next', async () => {
    const { ask, asked, open } = questions();
    const answers = [1, 2, 3].map(ask);
    expect(asked).toEqual([[1]]);
    open[0]?.end();
    expect(await answers[0]).toBe('answer 1');
    await expect.poll(() => asked).toEqual([[1], [2, 3]]);
    open[1]?.end();
    expect(await Promise.all(answers)).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  it('is asked anew for who comes after it was asked: no answer is older than its caller', async () => {
    const { ask, asked, open } = questions();
    const [first, second] = [ask(1), ask(1)];
    open[0]?.end();
    await first;
    await expect.poll(() => asked).toEqual([[1], [1]]);
    open[1]?.end();
    expect(await second).toBe('answer 1');
  });

  it('holds no more callers than it may, and not all lanes when one hangs', async () => {
    const { ask, asked } = questions({ lanes: 2 });
    for (const number of [1, 2, 3, 4, 5, 6]) void ask(number);
    expect(asked).toEqual([[1], [2]]);
    const { ask: askOne, asked: askedOne, open } = questions();
    for (const number of [1, 2, 3, 4, 5]) void askOne(number);
    open[0]?.end();
    await expect.poll(() => askedOne).toEqual([[1], [2, 3, 4]]);
  });

  it('fails all of its callers and none of the next', async () => {
    const { ask, asked, open } = questions();
    const [first, second] = [ask(1), ask(2)];
    open[0]?.fail(new Error('lost'));
    await expect(first).rejects.toThrow('lost');
    await expect.poll(() => asked).toEqual([[1], [2]]);
    open[1]?.end();
    expect(await second).toBe('answer 2');
  });

  it('is refused to who comes when too many wait', async () => {
    const { ask, open } = questions({ waitingMax: 1 });
    const [first, second] = [ask(1), ask(2)];
    await expect(ask(3)).rejects.toMatchObject({ code: 'DATABASE_BUSY' });
    open[0]?.end();
    expect(await first).toBe('answer 1');
    await expect.poll(() => open.length).toBe(2);
    open[1]?.end();
    expect(await second).toBe('answer 2');
  });
});
