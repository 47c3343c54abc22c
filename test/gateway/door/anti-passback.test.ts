import { describe, expect, it } from 'vitest';
import { areaAfter, judgePassback } from '#gateway/door/anti-passback.ts';
import type { DoorFact } from '#gateway/door/facts.ts';
import { granted } from './access-scenario.ts';

describe('anti-passback', () => {
  const door = granted.facts.door ?? expect.fail();
  const gate = (
    mode: 'off' | 'soft' | 'hard',
    areas: Pick<DoorFact['reader'], 'fromArea' | 'toArea'>,
    when: DoorFact['antiPassback'] = 'always',
  ): DoorFact => ({
    ...door,
    row: { ...door.row, antiPassback: { mode, when: 'always' } },
    reader: { ...door.reader, ...areas },
    antiPassback: when,
  });
  const inside = { fromArea: null, toArea: 'hall' };
  const outside = { fromArea: 'hall', toArea: null };
  const judge = (fact: DoorFact, area: string | null | undefined) =>
    judgePassback(fact, { ...granted.facts, holderArea: area === undefined ? undefined : { area } });

  it('refuses who is in already, and who leaves without having entered', () => {
    expect(judge(gate('hard', inside), 'hall')).toBe('hard-breach');
    expect(judge(gate('hard', inside), null)).toBe('none');
    expect(judge(gate('hard', outside), null)).toBe('hard-breach');
    expect(judge(gate('hard', outside), 'hall')).toBe('none');
    expect(judge(gate('hard', inside), 'vault')).toBe('hard-breach');
  });

  it('breaks no rule where the area is not known', () => {
    expect(judge(gate('hard', inside), undefined)).toBe('none');
  });

  it('only says so where it is soft, and nothing where it is off, out of hours, or the reader has no sides', () => {
    expect(judge(gate('soft', inside), 'hall')).toBe('soft-breach');
    expect(judge(gate('off', inside), 'hall')).toBe('none');
    expect(judge(gate('hard', inside, 'never'), 'hall')).toBe('none');
    expect(judge(gate('hard', inside, { windows: [] }), 'hall')).toBe('none');
    expect(judge(gate('hard', { fromArea: 'hall', toArea: 'hall' }), 'vault')).toBe('none');
  });

  it('moves the holder to the other side of the reader', () => {
    expect(areaAfter({ ...door.reader, ...inside })).toEqual({ area: 'hall' });
    expect(areaAfter({ ...door.reader, ...outside })).toEqual({ area: null });
    expect(areaAfter(door.reader)).toBeUndefined();
  });
});
