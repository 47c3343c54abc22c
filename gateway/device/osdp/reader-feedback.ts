/**
 * What people at a reader see and hear, within what the reader says it can do.
 *
 * Lasting signals are the permanent pattern of lamp 0, which a reader forgets with its power; passing ones run by
 * the reader's own timer over it. A reader without the lamp, colour or buzzer is asked for nothing it would refuse.
 */
import type { LedColor, LedPattern } from '#protocol/osdp/command/led.ts';
import type { PanelCommand } from '#protocol/osdp/panel-port.ts';
import { type Capability, capabilityFunction } from '#protocol/osdp/reply/capabilities.ts';
import type { FeedbackSignal } from '../driver.ts';

export type LastingSignal = Extract<FeedbackSignal, 'idle' | 'free' | 'lockdown'>;

interface Look {
  readonly led: LedPattern;
  readonly isLasting: boolean;
  /** Shown at least and at most so long, ms. */
  readonly ms: readonly [least: number, most: number];
  readonly buzz?: { readonly onTenths: number; readonly offTenths: number; readonly count: number };
}

const solid = (color: LedColor): LedPattern => ({ onTenths: 1, offTenths: 0, onColor: color, offColor: color });
const flash = (color: LedColor, tenths: number): LedPattern => ({
  onTenths: tenths,
  offTenths: tenths,
  onColor: color,
  offColor: 'off',
});
const lasting = (led: LedPattern): Look => ({ led, isLasting: true, ms: [0, 0] });

const looks: Readonly<Record<FeedbackSignal, Look>> = {
  idle: lasting(solid('red')),
  free: lasting(solid('green')),
  lockdown: lasting(flash('red', 5)),
  granted: { led: solid('green'), isLasting: false, ms: [500, 60_000], buzz: { onTenths: 1, offTenths: 1, count: 1 } },
  refused: {
    led: flash('red', 2),
    isLasting: false,
    ms: [1_000, 1_500],
    buzz: { onTenths: 2, offTenths: 1, count: 3 },
  },
  'enter-pin': { led: flash('amber', 3), isLasting: false, ms: [1_000, 60_000] },
  'held-warning': {
    led: flash('red', 1),
    isLasting: false,
    ms: [1_000, 60_000],
    buzz: { onTenths: 3, offTenths: 7, count: 5 },
  },
};

export interface FeedbackAbility {
  /** PDCAP 4: 0 none, 1 on and off, 2 timed, 3 two colours, 4 three colours and more. */
  readonly led: number;
  /** PDCAP 5: 0 none, 1 on and off, 2 timed. */
  readonly buzzer: number;
}

export function feedbackAbility(capabilities: readonly Capability[]): FeedbackAbility {
  const level = (number: number) => capabilities.find((entry) => entry.function === number)?.level ?? 0;
  return { led: level(capabilityFunction.leds), buzzer: level(capabilityFunction.buzzer) };
}

export function isLasting(signal: FeedbackSignal): signal is LastingSignal {
  return looks[signal].isLasting;
}

/** @returns the commands that show `signal` at `head` for `ms`; none if the reader can show nothing of it. */
export function feedbackCommands(
  ability: FeedbackAbility,
  head: number,
  signal: FeedbackSignal,
  ms: number,
): readonly PanelCommand[] {
  const look = looks[signal];
  return [...lamp(ability, head, look, ms), ...sound(ability, head, look)];
}

function lamp(ability: FeedbackAbility, head: number, look: Look, ms: number): PanelCommand[] {
  const isAble = look.isLasting ? ability.led >= 1 : ability.led >= 2;
  if (!isAble) return [];
  const pattern = { action: 'set', ...shownBy(ability, look.led) } as const;
  const [least, most] = look.ms;
  const timerTenths = Math.ceil(Math.min(most, Math.max(least, ms)) / 100);
  const record = look.isLasting
    ? ({ temporary: { action: 'nothing' }, permanent: pattern } as const)
    : ({ temporary: { ...pattern, timerTenths }, permanent: { action: 'nothing' } } as const);
  return [{ kind: 'led', records: [{ reader: head, led: 0, ...record }] }];
}

/** Amber needs three colours: with two, red flashes instead. */
function shownBy(ability: FeedbackAbility, pattern: LedPattern): LedPattern {
  return pattern.onColor === 'amber' && ability.led < 4 ? { ...pattern, onColor: 'red' } : pattern;
}

/** A buzzer that cannot time itself could sound for ever, so it is left alone. */
function sound(ability: FeedbackAbility, head: number, look: Look): PanelCommand[] {
  if (look.buzz === undefined || ability.buzzer < 2) return [];
  return [{ kind: 'buzzer', reader: head, tone: 'default', ...look.buzz }];
}
