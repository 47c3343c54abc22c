/** One timer that can be moved: the shell's side of every `nextDueAt`. */
import { type MonoMs, monoMs } from '#shared/instant.ts';

export interface WakeUp {
  /** Replaces what was set; `undefined` sets nothing. */
  set(at: MonoMs | undefined): void;
}

/** Monotonic time of this process, ms. */
export const now = (): MonoMs => monoMs(performance.now());

/** @param onWake called at or after the time, never before it. */
export function createWakeUp(onWake: (at: MonoMs) => void): WakeUp {
  let timer: NodeJS.Timeout | undefined;
  const set = (at: MonoMs | undefined) => {
    clearTimeout(timer);
    if (at === undefined) return;
    timer = setTimeout(() => (now() >= at ? onWake(now()) : set(at)), Math.max(0, at - now()));
    timer.unref();
  };
  return { set };
}
