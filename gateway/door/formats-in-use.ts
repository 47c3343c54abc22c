/** Which card formats a reader's bits are held against. */
import type { CardFormat } from '#protocol/wiegand/card-format.ts';
import { standardFormats } from '#protocol/wiegand/standard-formats.ts';

/**
 * @param names as the reader row lists them. A format named there is the only one of its bit count; for other bit counts,
 * and without names, all standard formats count.
 */
export function formatsInUse(names: readonly string[]): readonly CardFormat[] {
  if (names.length === 0) return standardFormats;
  const named = standardFormats.filter((format) => names.includes(format.name));
  return standardFormats.filter(
    (format) => named.includes(format) || !named.some(({ bitCount }) => bitCount === format.bitCount),
  );
}
