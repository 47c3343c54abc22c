/**
 * One output of a simulated device: a relay with a permanent state and a timer over it.
 *
 * Follows OUT of OSDP: a timer ends by itself, so that a silent panel leaves nothing released.
 * Pure: time arrives as `at`. A stuck relay takes every command and does not move, as worn contacts do.
 */
import { later, type MonoMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';

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

export interface OutputOrder {
  readonly at: MonoMs;
  readonly action: 'nothing' | 'off' | 'on' | 'off-after-timer' | 'on-after-timer' | 'on-for-timer' | 'off-for-timer';
  /** For the last two, ms; 0 means no timer was given and the command changes nothing. */
  readonly timerMs: number;
}

/** `on` and `off` cancel a running timer, the `-after-timer` pair lets it finish, the `-for-timer` pair starts one. */
export function orderRelay(relay: OutputRelay, { at, action, timerMs }: OutputOrder): OutputRelay {
  switch (action) {
    case 'nothing':
      return relay;
    case 'on':
    case 'off':
      return { ...relay, permanent: action === 'on', timer: undefined };
    case 'on-after-timer':
    case 'off-after-timer':
      return { ...relay, permanent: action === 'on-after-timer' };
    case 'on-for-timer':
    case 'off-for-timer':
      return timerMs > 0 ? { ...relay, timer: { isOn: action === 'on-for-timer', endsAt: later(at, timerMs) } } : relay;
    default:
      return unreachable(action);
  }
}

/** Ends a timer that is due. */
export function advanceRelay(relay: OutputRelay, at: MonoMs): OutputRelay {
  return relay.timer !== undefined && at >= relay.timer.endsAt ? { ...relay, timer: undefined } : relay;
}
