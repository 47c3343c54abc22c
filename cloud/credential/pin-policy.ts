/**
 * Which PINs may be given out, and how many.
 *
 * Density: of all PINs of one length, at most one in a thousand may open a door, duress PINs among them; somebody who
 * tries at random needs five hundred tries on average, and a reader locks after five.
 */
export const pinDigitsMin = 4;
export const pinDigitsMax = 10;
const possiblePerPin = 1_000;

/** The most PINs of so many digits that may open one door by themselves. */
export const mostPins = (digits: number): number => 10 ** digits / possiblePerPin;

/** Walks over a keypad that fingers find by themselves, in both directions. */
const walks = ['2580', '1470', '3690', '1590', '3570', '1793', '1397', '7139', '1236987', '3214789'];

/** Whether a PIN is among the first that somebody would try. */
export function isGuessable(pin: string): boolean {
  return isRun(pin) || isRepeated(pin) || isMirrored(pin) || isYear(pin) || isWalk(pin);
}

/** 1234, 9876, 8901, 7777: the same step from each digit to the next. */
function isRun(pin: string): boolean {
  const digits = [...pin].map(Number);
  const steps = new Set(digits.slice(1).map((digit, at) => (digit - (digits[at] ?? 0) + 10) % 10));
  const [step] = steps;
  return steps.size === 1 && (step === 0 || step === 1 || step === 9);
}

/** 1212, 123123: a shorter one said again. */
function isRepeated(pin: string): boolean {
  for (let length = 1; length <= pin.length / 2; length += 1) {
    if (pin.length % length === 0 && pin.slice(0, length).repeat(pin.length / length) === pin) return true;
  }
  return false;
}

/** 1221, 12321, 1122: few digits, an order that is remembered at a glance. */
function isMirrored(pin: string): boolean {
  return pin === [...pin].reverse().join('') || /^(\d)\1+(\d)\2+$/.test(pin);
}

const isYear = (pin: string): boolean => /^(19|20)\d\d$/.test(pin);

function isWalk(pin: string): boolean {
  const back = [...pin].reverse().join('');
  return walks.some((walk) => walk.startsWith(pin) || walk.startsWith(back));
}

/**
 * Whether a slip of the finger turns one PIN into the other: one digit wrong, or two neighbours swapped. A duress PIN must
 * be no such slip of any PIN, or somebody who mistypes raises a silent alarm.
 */
export function isOneSlipAway(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  const wrong = [...one].flatMap((digit, at) => (digit === other[at] ? [] : [at]));
  if (wrong.length <= 1) return true;
  const [first = 0, second = 0] = wrong;
  return wrong.length === 2 && second === first + 1 && one[first] === other[second] && one[second] === other[first];
}
