/** The outputs of one simulated device: relays with their timers, their power, and who is told when current changes. */
import {
  advanceRelay,
  isRelayOn,
  type OutputOrder,
  type OutputRelay,
  orderRelay,
  restingRelay,
} from './output-relay.ts';
import { createWakeUp, now } from './wake-up.ts';
import type { CurrentChange } from './wired-door.ts';

export interface OutputBank {
  /** @param command the message's bytes in hexadecimal, for the record. */
  order(output: number, order: OutputOrder, command: string): void;
  /** Whether current flows, by output. */
  states(): boolean[];
  jam(output: number, isJammed: boolean): void;
  isJammed(output: number): boolean;
  cutPower(): void;
  restorePower(): void;
}

/** @param onCurrent told of every change, and of every command whether it changed anything or not. */
export function createOutputBank(
  count: number,
  onCurrent: (output: number, change: CurrentChange) => void,
): OutputBank {
  const relays: OutputRelay[] = Array.from({ length: count }, () => restingRelay);
  const wakeUps = relays.map((_, output) =>
    createWakeUp(() => become(output, (relay) => advanceRelay(relay, now()), { cause: 'timer' })),
  );
  const become = (
    output: number,
    change: (relay: OutputRelay) => OutputRelay,
    why: Pick<CurrentChange, 'cause' | 'command'>,
  ) => {
    const before = relays[output];
    if (before === undefined) return;
    const after = change(before);
    relays[output] = after;
    wakeUps[output]?.set(after.timer?.endsAt);
    const isOn = isRelayOn(after);
    if (why.cause === 'command' || isOn !== isRelayOn(before)) onCurrent(output, { isOn, ...why });
  };
  const all = (change: (relay: OutputRelay) => OutputRelay, cause: CurrentChange['cause']) => {
    for (const output of relays.keys()) become(output, change, { cause });
  };
  return {
    order: (output, order, command) =>
      become(output, (relay) => orderRelay(advanceRelay(relay, order.at), order), { cause: 'command', command }),
    states: () => relays.map(isRelayOn),
    jam: (output, isJammed) =>
      become(output, (relay) => ({ ...relay, stuckAt: isJammed ? isRelayOn(relay) : undefined }), {
        cause: isJammed ? 'jammed' : 'freed',
      }),
    isJammed: (output) => relays[output]?.stuckAt !== undefined,
    cutPower: () => all((relay) => ({ ...restingRelay, stuckAt: relay.stuckAt }), 'power-lost'),
    restorePower: () => all((relay) => relay, 'power-back'),
  };
}
