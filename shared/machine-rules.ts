/** The transitions of a machine as rows of the database's rule table. */
import { type AnyMachine, answersOf } from './machine.ts';

export interface TransitionRule {
  readonly machine: string;
  readonly event: string;
  readonly from_state: string;
  readonly to_state: string;
}

/** Each transition once, in the order of the declaration. */
export function transitionRules(machine: AnyMachine): readonly TransitionRule[] {
  const rules = new Map<string, TransitionRule>();
  for (const event of machine.events) {
    for (const from of machine.states) {
      for (const answer of answersOf(machine, from, event)) {
        if (!('to' in answer)) continue;
        const rule = { machine: machine.name, event, from_state: from, to_state: answer.to };
        rules.set(`${event} ${from} ${answer.to}`, rule);
      }
    }
  }
  return [...rules.values()];
}
