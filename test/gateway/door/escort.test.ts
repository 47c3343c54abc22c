import { describe, expect, it } from 'vitest';
import { decideAccess } from '#gateway/door/decide-access.ts';
import { type EscortWait, escortWaiting, stepEscort } from '#gateway/door/escort.ts';
import { identifier } from '#shared/identifier.ts';
import { monoMs } from '#shared/instant.ts';
import { granted, withCredential, withDoor } from './access-scenario.ts';

const at = (seconds: number) => monoMs(seconds * 1_000);

describe('two persons', () => {
  /** Presents holders one after another at a door with escort, and keeps the wait as a shell does. */
  function present(...visits: readonly (readonly [number, string])[]): readonly string[] {
    let wait: EscortWait | undefined;
    return visits.map(([seconds, holder]) => {
      const scenario = withDoor(withCredential(granted, { holder: identifier(holder) }), {
        escort: 'always',
        escortWaiting: escortWaiting(wait, at(seconds)),
      });
      const decision = decideAccess(scenario.request, scenario.facts);
      wait = stepEscort(wait, decision, at(seconds));
      return decision.code;
    });
  }

  it('open the door within fifteen seconds', () => {
    expect(present([0, 'aiko'], [14.999, 'kenji'])).toEqual(['ESCORT_REQUIRED', 'GRANTED']);
    expect(present([0, 'aiko'], [15, 'kenji'])).toEqual(['ESCORT_REQUIRED', 'ESCORT_REQUIRED']);
  });

  it('are two: the same holder again only waits anew', () => {
    expect(present([0, 'aiko'], [10, 'aiko'], [24, 'kenji'])).toEqual([
      'ESCORT_REQUIRED',
      'ESCORT_REQUIRED',
      'GRANTED',
    ]);
  });

  it('are needed again for the next entry', () => {
    expect(present([0, 'aiko'], [1, 'kenji'], [2, 'aiko'])).toEqual(['ESCORT_REQUIRED', 'GRANTED', 'ESCORT_REQUIRED']);
  });

  it('are not disturbed by a third whose card is refused', () => {
    const wait = { holder: identifier<'holder'>('aiko'), until: at(15) };
    const unknown = decideAccess(granted.request, { ...granted.facts, credential: { kind: 'unknown' } });
    expect(stepEscort(wait, unknown, at(1))).toBe(wait);
  });
});
