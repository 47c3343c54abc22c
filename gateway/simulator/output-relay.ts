/**
 * One output of a simulated device: a relay with a permanent state and a timer over it.
 *
 * Follows OUT of OSDP: codes 0–6, timers that end by themselves, so that a silent panel leaves nothing released.
 * Pure: time arrives as `at`. A stuck relay takes every command and does not move, as worn contacts do.
 */
import { later, type MonoMs } from '#shared/instant.ts';

export interface OutputRelay {
  /** What a command without a timer left it at; a timer falls back to it. */
  readonly permanent: boolean;
  readonly timer: { readonly isOn: boolean; readonly endsAt: MonoMs } | undefined;
  /** Frozen here by a fault; `undefined` = it moves. */
  readonly stuckAt: boolean | undefined;
}

/** As after power-up: off, no timer. */
export const restingRelay: OutputRelay = { permanent: false, timer: undefined, stuckAt: undefined };

/** Whether current flows. */
export function isRelayOn(relay: OutputRelay): boolean {
  return relay.stuckAt ?? relay.timer?.isOn ?? relay.permanent;
}

export interface OutputCommand {
  readonly at: MonoMs;
  /** OSDP OUT control code, 0–6; others change nothing. */
  readonly code: number;
  /** For codes 5 and 6, ms; 0 means no timer was given and the command changes nothing. */
  readonly timerMs: number;
}

/** Codes 1 and 2 cancel a running timer, 3 and 4 let it finish, 5 and 6 start one. */
export function commandRelay(relay: OutputRelay, command: OutputCommand): OutputRelay {
  const { at, code, timerMs } = command;
  switch (code) {
    case 1:
    case 2:
      return { ...relay, permanent: code === 2, timer: undefined };
    case 3:
    case 4:
      return { ...relay, permanent: code === 4 };
    case 5:
    case 6:
      return timerMs > 0 ? { ...relay, timer: { isOn: code === 5, endsAt: later(at, timerMs) } } : relay;
    default:
      return relay;
  }
}

/** Ends a timer that is due. */
export function advanceRelay(relay: OutputRelay, at: MonoMs): OutputRelay {
  return relay.timer !== undefined && at >= relay.timer.endsAt ? { ...relay, timer: undefined } : relay;
}
