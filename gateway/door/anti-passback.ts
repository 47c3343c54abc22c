/**
 * Anti-passback: who is in an area cannot enter it again, and who is not in it cannot leave it.
 *
 * Hard refuses, soft grants and says so. The area moves when the door opens, where a contact can tell; else at the release.
 * Not promised: the truth about people who follow another through an open door. An area that is not known breaks no rule.
 */
import { applies } from './access-rule.ts';
import type { DoorFact, Facts } from './facts.ts';

export type Passback = 'none' | 'soft-breach' | 'hard-breach';

/** What the rule makes of a holder at this reader. A reader whose two sides are one area has no rule. */
export function judgePassback(door: DoorFact, facts: Facts): Passback {
  const { mode } = door.row.antiPassback;
  const { fromArea, toArea } = door.reader;
  const isExempt = mode === 'off' || fromArea === toArea || !applies(door.antiPassback, facts.clock);
  if (isExempt || facts.holderArea === undefined || facts.holderArea.area === fromArea) return 'none';
  return mode === 'hard' ? 'hard-breach' : 'soft-breach';
}

/** Where the holder is after going through; `undefined` = this reader moves nobody. */
export function areaAfter(reader: DoorFact['reader']): { readonly area: string | null } | undefined {
  return reader.fromArea === reader.toArea ? undefined : { area: reader.toArea };
}
