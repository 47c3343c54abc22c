/**
 * What an input says about the condition it is named after: door open, button pressed, fire.
 *
 * A supervised loop that is short, cut or faulty is tampered with and says nothing about the condition;
 * on an unsupervised one the same reads as the condition being true, since nobody would be told otherwise.
 */
import type { InputPoint } from '#shared/contract/replica-row.ts';
import { unreachable } from '#shared/unreachable.ts';

/** Electrical state as devices report it. */
export type InputLevel = 'inactive' | 'active' | 'short' | 'cut' | 'fault' | 'unknown';

export type Reading = 'true' | 'false' | 'tampered' | 'unknown';

export function readInput(point: InputPoint, level: InputLevel): Reading {
  switch (level) {
    case 'active':
      return point.activeWhenTrue ? 'true' : 'false';
    case 'inactive':
      return point.activeWhenTrue ? 'false' : 'true';
    case 'short':
    case 'cut':
    case 'fault':
      return point.supervised ? 'tampered' : 'true';
    case 'unknown':
      return 'unknown';
    default:
      return unreachable(level);
  }
}
