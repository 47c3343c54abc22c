import { describe, expect, it } from 'vitest';
import { decideAccess } from '#gateway/door/decide-access.ts';
import { explainAccess } from '#gateway/door/explain-access.ts';
import { grant, granted, now, spoilers, windowAround, withDoor, withFound } from './access-scenario.ts';

describe('an explanation', () => {
  it.each(spoilers)('of %s ends with the rule that decided', (code, spoil) => {
    const { request, facts } = spoil(granted);
    const { decision, verdicts, inTheWay } = explainAccess(request, facts);
    expect(decision).toEqual(decideAccess(request, facts));
    expect(verdicts.at(-1)?.finding?.code).toBe(code);
    expect(verdicts.slice(0, -1).every(({ finding }) => finding === undefined)).toBe(true);
    expect(inTheWay[0]?.code).toBe(code);
  });

  it('of a grant shows every rule passed', () => {
    const { verdicts, inTheWay, grantOpensAt } = explainAccess(granted.request, granted.facts);
    expect(verdicts.map(({ rank }) => rank)).toEqual(Array.from({ length: 20 }, (_, row) => row + 1));
    expect(inTheWay).toEqual([]);
    expect(grantOpensAt).toBeUndefined();
  });

  it('names all that would have to change, and when the grant opens', () => {
    const opensAt = windowAround(now + 7_200_000);
    const scenario = withDoor(withFound(granted, { grants: [grant({ schedule: 'office' }, [opensAt])] }), {
      lock: 'unreachable',
    });
    const { inTheWay, grantOpensAt } = explainAccess(scenario.request, scenario.facts);
    expect(inTheWay.map(({ code }) => code)).toEqual(['OUTSIDE_SCHEDULE', 'LOCK_UNREACHABLE']);
    expect(grantOpensAt).toBe(opensAt.from);
  });

  it('does not promise an opening after the grant has ended', () => {
    const late = grant({ validUntil: now + 10 }, [windowAround(now + 7_200_000)]);
    const { request, facts } = withFound(granted, { grants: [late] });
    expect(explainAccess(request, facts).grantOpensAt).toBeUndefined();
  });
});
