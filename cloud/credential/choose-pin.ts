/** Draws a PIN at random: every PIN that may be given out is as likely as any other. */
import { invariant } from '#shared/invariant.ts';
import { isGuessable, pinDigitsMax, pinDigitsMin } from './pin-policy.ts';

/** Few PINs are guessable: so many draws in a row fail only where the source of randomness is broken. */
const drawsMax = 100;

/** @param draw a uniform integer, 0 up to and without its argument. */
export function choosePin(digits: number, draw: (below: number) => number): string {
  invariant(digits >= pinDigitsMin && digits <= pinDigitsMax, `a PIN has ${pinDigitsMin}–${pinDigitsMax} digits`);
  for (let attempt = 0; attempt < drawsMax; attempt += 1) {
    const pin = String(draw(10 ** digits)).padStart(digits, '0');
    if (!isGuessable(pin)) return pin;
  }
  throw new Error('invariant broken: randomness gives one PIN after another');
}
