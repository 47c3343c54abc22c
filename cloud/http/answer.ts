/**
 * What a handler answers: a value, or why not. A refusal is a value; nothing of what the handler wrote is kept with it.
 */
import type { Code } from '#shared/code.ts';
import type { Outcome } from '#shared/outcome.ts';
import type { FieldIssue } from './field-issue.ts';

export interface Done {
  readonly status: 200 | 201 | 202;
  readonly body: unknown;
}

export interface Refusal {
  readonly refused: Code;
  readonly fields?: readonly FieldIssue[];
  /** What it is now, where somebody else changed it meanwhile. */
  readonly current?: unknown;
}

export type Answer = Done | Refusal;

export const ok = (body: unknown): Done => ({ status: 200, body });
export const created = (body: unknown): Done => ({ status: 201, body });
/** Begun, and not yet done. */
export const accepted = (body: unknown): Done => ({ status: 202, body });
export const refusal = (code: Code, detail: Omit<Refusal, 'refused'> = {}): Refusal => ({ refused: code, ...detail });

/** `{outcome, item}`: what a verb did, and the thing as it is now. */
export async function outcomeAnswer(outcome: Outcome, readItem: () => Promise<unknown>): Promise<Answer> {
  switch (outcome.status) {
    case 'applied':
    case 'noop':
      return ok({ outcome, item: await readItem() });
    case 'conflict':
      return refusal(outcome.code, { current: { state: outcome.current, item: await readItem() } });
    case 'refused':
      return refusal(outcome.code);
  }
}
