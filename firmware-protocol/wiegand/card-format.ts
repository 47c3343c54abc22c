/**
 * A card format as data: which bits are which number, and which parities must hold.
 *
 * Formats are chosen by bit count and by setting, never by what the reader claims. Sites add their own as data.
 */
import type { BitSpan } from './card-bits.ts';

export interface ParityRule {
  /** The parity bit. */
  readonly at: number;
  /** What the number of ones in `at` and `covers` together must be. */
  readonly ones: 'even' | 'odd';
  /** The other bits it covers. */
  readonly covers: readonly number[];
}

export interface CardFormat {
  /** Short and unique, such as `H10301`. */
  readonly name: string;
  readonly bitCount: number;
  /** The site's or company's part; absent where the number stands alone. */
  readonly facility: BitSpan | undefined;
  readonly number: BitSpan;
  /** In the order in which they can be computed: a rule that covers another parity bit comes after it. */
  readonly parities: readonly ParityRule[];
  /**
   * Whether anyone can order or write a card with the same bits, so that a second factor should be offered.
   * `false` says nothing about the card's chip: a static number behind a weak chip is copied as well.
   */
  readonly isCloneable: boolean;
}

const mostBits = 255;
/** A number stays exact in a double. */
const widestField = 53;

/**
 * What is wrong with a format that came from outside.
 * @returns one sentence, or `undefined` if it can be used.
 */
export function formatProblem(format: CardFormat): string | undefined {
  const { bitCount, facility, number, parities } = format;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/.test(format.name)) return 'the name must be 1–32 letters, digits, . _ or -';
  if (!Number.isInteger(bitCount) || bitCount < 1 || bitCount > mostBits) return `the bit count must be 1–${mostBits}`;
  for (const span of facility === undefined ? [number] : [facility, number]) {
    if (!isInside(span, bitCount)) return `a field must lie within the ${bitCount} bits and have 1–${widestField} bits`;
  }
  return parityProblem(parities, bitCount);
}

function isInside({ from, length }: BitSpan, bitCount: number): boolean {
  const areIntegers = Number.isInteger(from) && Number.isInteger(length);
  return areIntegers && from >= 0 && length >= 1 && length <= widestField && from + length <= bitCount;
}

function parityProblem(parities: readonly ParityRule[], bitCount: number): string | undefined {
  const isBit = (bit: number): boolean => Number.isInteger(bit) && bit >= 0 && bit < bitCount;
  const computed = new Set<number>();
  const pending = new Set(parities.map((rule) => rule.at));
  if (pending.size !== parities.length) return 'a parity bit has two rules';
  for (const rule of parities) {
    if (![rule.at, ...rule.covers].every(isBit)) return `a parity must lie within the ${bitCount} bits`;
    if (rule.covers.some((bit) => pending.has(bit) && !computed.has(bit)))
      return 'a parity covers one that comes later';
    computed.add(rule.at);
  }
  return undefined;
}
