/** What a simulated reader shows and sounds, in a few words. */
import type { PeripheralEffect } from '#protocol/osdp/peripheral-port.ts';

type Signal = Extract<PeripheralEffect, { readonly kind: 'led' | 'buzzer' | 'text' }>;

/** For example `green 5 s`, `red/off flashing 1.5 s`, `red`, `3 beeps`. */
export function signalWords(signal: Signal): string {
  switch (signal.kind) {
    case 'led':
      return signal.records
        .flatMap(({ temporary, permanent }) => [
          ...(temporary.action === 'set' ? [`${lampWords(temporary)} ${temporary.timerTenths / 10} s`] : []),
          ...(permanent.action === 'set' ? [lampWords(permanent)] : []),
        ])
        .join(', ');
    case 'buzzer':
      return signal.tone === 'default' ? `${signal.count === 0 ? 'endless' : signal.count} beeps` : 'no sound';
    case 'text':
      return 'text';
  }
}

interface Lamp {
  readonly onColor: string;
  readonly offColor: string;
  readonly offTenths: number;
}

function lampWords({ onColor, offColor, offTenths }: Lamp): string {
  return offTenths === 0 || onColor === offColor ? onColor : `${onColor}/${offColor} flashing`;
}
