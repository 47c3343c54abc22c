/**
 * A machine is declared once, as data: from it come the reducer, `may`, the rows of the database's rule table and the
 * pages in docs/machines.
 *
 * Every state × event has a cell, and a cell is one answer or a list of answers of which the first that applies counts.
 * Guarantee: a condition that is not known to hold does not hold, and a cell whose answers all miss is illegal.
 * Not promised: effects. `step` says what the state becomes; the verb writes it, and what else the transition writes
 * beside the state stands in `sets` for it to read.
 */
import type { Code } from './code.ts';
import { invariant } from './invariant.ts';
import type { Outcome } from './outcome.ts';

/** What else the transition writes beside the state, by the name the verb knows it under. */
export type Sets = Readonly<Record<string, string | null>>;

/** `when` is the condition under which this answer counts; `needs` must all hold, else the first that does not refuses. */
export type Answer<State extends string, Condition extends string> = { readonly when?: Condition } & (
  | { readonly to: State; readonly needs: readonly Condition[]; readonly sets: Sets }
  | { readonly noop: Code }
  | { readonly refuse: Code }
  | { readonly is: 'conflict' | 'illegal' }
);

export type Cell<State extends string, Condition extends string> =
  | Answer<State, Condition>
  | readonly Answer<State, Condition>[];

export interface ConditionText {
  /** In plain words, for the page. */
  readonly says: string;
  /** The code with which a transition that needs it refuses where it does not hold; absent where it only chooses. */
  readonly refuses?: Code;
}

export interface Machine<State extends string, Event extends string, Condition extends string> {
  readonly name: string;
  /** What the machine is about, in a sentence or two, for its page. */
  readonly about: string;
  readonly states: readonly State[];
  readonly events: readonly Event[];
  readonly initial: State;
  /** Answered by a `conflict` cell. */
  readonly conflict: Code;
  readonly conditions: { readonly [Name in Condition]: ConditionText };
  readonly cells: {
    readonly [Name in NoInfer<Event>]: { readonly [Name in NoInfer<State>]: Cell<NoInfer<State>, NoInfer<Condition>> };
  };
}

/** Any machine, where only its data matters (rule rows, pages, a test over all of them). */
export type AnyMachine = Machine<string, string, string>;

type To<State extends string, Condition extends string> = {
  readonly to: State;
  readonly needs: readonly Condition[];
  readonly sets: Sets;
};

/** Goes to a state, if what it needs holds. */
export function to<const State extends string, const Condition extends string = never>(
  state: State,
  detail: { readonly needs?: readonly Condition[]; readonly sets?: Sets } = {},
): To<State, Condition> {
  return { to: state, needs: detail.needs ?? [], sets: detail.sets ?? {} };
}

/** It is so already. */
export const noop = (code: Code): { readonly noop: Code } => ({ noop: code });
/** Not under these circumstances. */
export const refuse = (code: Code): { readonly refuse: Code } => ({ refuse: code });
/** The state went on meanwhile. */
export const conflict = { is: 'conflict' } as const;
/** Never from this state. */
export const illegal = { is: 'illegal' } as const;

/** An answer that counts only where a condition holds. */
export function when<const Condition extends string, Given extends object>(
  condition: Condition,
  answer: Given,
): Given & { readonly when: Condition } {
  return { ...answer, when: condition };
}

/** @throws where the declaration contradicts itself: a bug, found as the program starts. */
export function declareMachine<State extends string, Event extends string, Condition extends string = never>(
  machine: Machine<State, Event, Condition>,
): Machine<State, Event, Condition> {
  const { name, states, events, initial } = machine;
  invariant(states.includes(initial), `${name} begins in a state of its own`);
  invariant(new Set(states).size === states.length, `${name} names each state once`);
  invariant(new Set(events).size === events.length, `${name} names each event once`);
  for (const event of events) for (const state of states) checkCell(machine, `${state} × ${event}`, event, state);
  return machine;
}

function checkCell<State extends string, Event extends string, Condition extends string>(
  machine: Machine<State, Event, Condition>,
  where: string,
  ...[event, state]: [Event, State]
): void {
  for (const answer of answersOf(machine, state, event)) {
    if (!('to' in answer)) continue;
    invariant(machine.states.includes(answer.to), `${machine.name}: ${where} goes to a state of its own`);
    for (const need of answer.needs) {
      invariant(machine.conditions[need].refuses, `${machine.name}: ${need} says with which code it refuses`);
    }
  }
}

/** The answers of one cell, in the order in which they are tried. */
export function answersOf<State extends string, Event extends string, Condition extends string>(
  machine: Machine<State, Event, Condition>,
  state: NoInfer<State>,
  event: NoInfer<Event>,
): readonly Answer<State, Condition>[] {
  const cell = machine.cells[event][state];
  return Array.isArray(cell) ? cell : [cell as Answer<State, Condition>];
}

/** As an outcome, with what the transition sets beside the state. */
export type Step<State extends string> =
  | Exclude<Outcome<State>, { readonly status: 'applied' }>
  | { readonly status: 'applied'; readonly to: State; readonly sets: Sets };

/** @param holds which conditions hold now; every one the machine names is told, so that none is forgotten. */
export function step<State extends string, Event extends string, Condition extends string>(
  machine: Machine<State, Event, Condition>,
  state: NoInfer<State>,
  event: NoInfer<Event>,
  holds: { readonly [Name in NoInfer<Condition>]: boolean },
): Step<State> {
  const answer = answersOf(machine, state, event).find(
    (candidate) => candidate.when === undefined || holds[candidate.when] === true,
  );
  if (answer === undefined) return { status: 'refused', code: 'ILLEGAL_TRANSITION' };
  if ('noop' in answer) return { status: 'noop', code: answer.noop };
  if ('refuse' in answer) return { status: 'refused', code: answer.refuse };
  if ('is' in answer) {
    if (answer.is === 'illegal') return { status: 'refused', code: 'ILLEGAL_TRANSITION' };
    return { status: 'conflict', code: machine.conflict, current: state };
  }
  for (const need of answer.needs) {
    if (holds[need] !== true) {
      return { status: 'refused', code: machine.conditions[need].refuses ?? 'ILLEGAL_TRANSITION' };
    }
  }
  return { status: 'applied', to: answer.to, sets: answer.sets };
}

/** Whether the event can change the state at all; jobs ask before they act. */
export function may<State extends string, Event extends string, Condition extends string>(
  machine: Machine<State, Event, Condition>,
  state: NoInfer<State>,
  event: NoInfer<Event>,
): boolean {
  return answersOf(machine, state, event).some((answer) => 'to' in answer);
}
