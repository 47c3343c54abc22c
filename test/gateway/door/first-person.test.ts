import { describe, expect, it } from 'vitest';
import { hasEnteredToday } from '#gateway/door/first-person.ts';
import { wallMs } from '#shared/instant.ts';

describe('the first person of the day', () => {
  const today = { from: wallMs(1_000), until: wallMs(2_000) };

  it('entered since the facility’s midnight', () => {
    expect([999, 1_000, 1_999, 2_000].map((entry) => hasEnteredToday(wallMs(entry), today))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(hasEnteredToday(undefined, today)).toBe(false);
  });
});
