/**
 * Asks one question for many callers: who comes while a question is under way, or too soon after it, is asked for together
 * with all others by the next.
 *
 * Guarantees: no answer was read before it was asked for, and none is kept; a first caller goes at once; questions,
 * callers in one of them and callers that wait have a limit.
 * Not promised: that a fault is one caller's alone: it is of all that its question was for. So nothing that a caller wrote
 * goes into a question before it was checked, and no question waits for a lock.
 */
import { DatabaseFault } from '#cloud/database/database-fault.ts';

export interface GatherLimits {
  /** Callers in one question. */
  readonly most: number;
  /** Questions under way at a time: one that hangs does not keep all from asking. */
  readonly lanes: number;
  /** Between the beginnings of two questions, ms. */
  readonly everyMs: number;
  readonly waitingMax: number;
}

interface Caller<Asked, Answer> {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * @param ask answers in the order it was asked.
 * @returns asks for one. @throws what `ask` throws; DatabaseFault DATABASE_BUSY where too many wait.
 */
export function createGather<Asked, Answer>(
  ask: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
  limits: GatherLimits,
): (asked: Asked) => Promise<Answer> {
  const waiting: Caller<Asked, Answer>[] = [];
  let underWay = 0;
  let begunAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function next(): void {
    if (waiting.length === 0 || underWay >= limits.lanes || timer !== undefined) return;
    const restMs = begunAt + limits.everyMs - performance.now();
    if (restMs > 0) {
      timer = setTimeout(begin, restMs);
      return;
    }
    begin();
  }

  function begin(): void {
    timer = undefined;
    begunAt = performance.now();
    underWay += 1;
    void answer(waiting.splice(0, limits.most));
    next();
  }

  async function answer(callers: readonly Caller<Asked, Answer>[]): Promise<void> {
    try {
      const answers = await ask(callers.map(({ asked }) => asked));
      for (const [place, { resolve }] of callers.entries()) resolve(answers[place] as Answer);
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
    underWay -= 1;
    next();
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= limits.waitingMax) {
        reject(new DatabaseFault('DATABASE_BUSY', `more than ${limits.waitingMax} wait for one question`));
        return;
      }
      waiting.push({ asked, resolve, reject });
      next();
    });
}
