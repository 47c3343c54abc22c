/** Text from outside made fit for a terminal: what would move its cursor or turn its direction stands there as a code. */

const unprintable = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** @returns one line: every control sign, line ends too, as `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(unprintable, (sign) => `\\u{${sign.charCodeAt(0).toString(16)}}`);
}
