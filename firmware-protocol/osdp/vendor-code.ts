/**
 * A vendor's OUI: three bytes, written as six lower-case hexadecimal digits in the order they travel.
 * The order of the wire is kept, since implementations disagree whether it is the IEEE's order or the reverse.
 */
export function vendorText(bytes: Uint8Array): string {
  return Array.from(bytes.subarray(0, 3), (value) => value.toString(16).padStart(2, '0')).join('');
}

/** @throws RangeError unless the text is six hexadecimal digits. */
export function vendorBytes(text: string): readonly number[] {
  if (!/^[0-9a-f]{6}$/i.test(text)) throw new RangeError(`vendor code ${text}`);
  return [0, 2, 4].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
}
