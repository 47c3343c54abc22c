/** Which kind of rows is compared with the cloud next, while the two differ. Pure. */
import { type RowKind, rowKinds } from '#shared/replica-digest.ts';

/** `rounds`: how often in a row a kind was repaired without the end of its differences. */
export interface RepairTurn {
  readonly kind: RowKind;
  readonly rounds: number;
}

/** More rounds of one kind than this bring nothing: a snapshot does. */
const roundsMax = 32;

export const firstRepair: RepairTurn = { kind: rowKinds[0], rounds: 0 };

/** @returns the next turn; `done` after the last kind, `hopeless` where one kind does not end. */
export function afterRepair(turn: RepairTurn, answer: 'repaired' | 'same'): RepairTurn | 'done' | 'hopeless' {
  if (answer === 'repaired') {
    const rounds = turn.rounds + 1;
    return rounds > roundsMax ? 'hopeless' : { ...turn, rounds };
  }
  const next = rowKinds[rowKinds.indexOf(turn.kind) + 1];
  return next === undefined ? 'done' : { kind: next, rounds: 0 };
}
