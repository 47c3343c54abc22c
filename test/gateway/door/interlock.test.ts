import { describe, expect, it } from 'vitest';
import { type InterlockMember, interlockedBy } from '#gateway/door/interlock.ts';
import { identifier } from '#shared/identifier.ts';

describe('interlock', () => {
  const member = (change: Partial<Omit<InterlockMember, 'door'>> & { door: string }): InterlockMember => ({
    group: 'airlock',
    status: 'secured',
    isGrantPending: false,
    ...change,
    door: identifier(change.door),
  });
  const outer = member({ door: 'outer' });

  it('lets a door through while all others of its group are secured', () => {
    expect(interlockedBy(outer, [outer, member({ door: 'inner' })])).toBeUndefined();
    expect(interlockedBy(outer, [member({ door: 'inner', status: 'open' })])).toBe('inner');
    expect(interlockedBy(outer, [member({ door: 'inner', status: 'unknown' })])).toBe('inner');
  });

  it('counts a grant that is still being written', () => {
    expect(interlockedBy(outer, [member({ door: 'inner', isGrantPending: true })])).toBe('inner');
  });

  it('does not look at itself, at other groups, or at doors of none', () => {
    expect(interlockedBy(outer, [member({ door: 'outer', status: 'released' })])).toBeUndefined();
    expect(interlockedBy(outer, [member({ door: 'x', group: 'other', status: 'open' })])).toBeUndefined();
    expect(
      interlockedBy(member({ door: 'a', group: null }), [member({ door: 'b', group: null, status: 'open' })]),
    ).toBe(undefined);
  });
});
