/**
 * The one shape of CBOR (RFC 8949) on this link: a map from small unsigned integers to integers, bytes, text and flags.
 *
 * Nothing nests, every length is definite, every number is shortest, keys ascend and occur once: a map has exactly one
 * encoding (RFC 8949, 4.2.1), so that two programs never read two meanings out of the same bytes. Guarantee: the decoder
 * never throws, reads nothing outside its bytes and holds at most `entriesLimit` entries.
 */

/** Unsigned up to 2^53 − 1; text is printable ASCII. */
export type Item = number | Uint8Array | string | boolean;
export type FlatMap = ReadonlyMap<number, Item>;

const entriesLimit = 15;
/** Longest map on the link, bytes: the plaintext of a record. */
export const longestMap = 480;
/** Keys are one byte. */
const highestKey = 23;

export type MapRefusal =
  | 'too-long'
  | 'truncated'
  | 'trailing'
  | 'not-a-map'
  | 'too-many'
  | 'bad-key'
  | 'bad-order'
  | 'bad-type'
  | 'not-shortest'
  | 'too-big'
  | 'bad-text';

export type MapDecoding =
  | { readonly kind: 'map'; readonly map: FlatMap }
  | { readonly kind: 'refused'; readonly refusal: MapRefusal };

const major = { unsigned: 0, bytes: 2, text: 3, map: 5, simple: 7 } as const;
const falseByte = 0xf4;
const trueByte = 0xf5;

/** @throws RangeError for a map the link cannot carry, which is a bug of the caller. */
export function encodeFlatMap(map: FlatMap): Uint8Array {
  const entries = [...map].sort(([one], [other]) => one - other);
  if (entries.length > entriesLimit) throw new RangeError(`${entries.length} entries are more than ${entriesLimit}`);
  const out = [(major.map << 5) | entries.length];
  for (const [key, item] of entries) {
    if (!Number.isInteger(key) || key < 0 || key > highestKey)
      throw new RangeError(`key ${key} is not 0–${highestKey}`);
    out.push(key, ...encodeItem(item));
  }
  if (out.length > longestMap) throw new RangeError(`${out.length} bytes are more than ${longestMap}`);
  return Uint8Array.from(out);
}

function encodeItem(item: Item): readonly number[] {
  if (typeof item === 'number') return encodeHead(major.unsigned, item);
  if (typeof item === 'boolean') return [item ? trueByte : falseByte];
  if (typeof item !== 'string') return [...encodeHead(major.bytes, item.length), ...item];
  if (!isPrintable(item)) throw new RangeError('text is not printable ASCII');
  return [...encodeHead(major.text, item.length), ...Buffer.from(item, 'latin1')];
}

function encodeHead(type: number, value: number): readonly number[] {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not 0 to 2^53 − 1`);
  const head = type << 5;
  if (value < 24) return [head | value];
  const width = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffff ? 2 : 3;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return [head | (24 + width), ...bytes.subarray(8 - 2 ** width)];
}

const isPrintable = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

const refuse = (refusal: MapRefusal): { readonly kind: 'refused'; readonly refusal: MapRefusal } => ({
  kind: 'refused',
  refusal,
});

export function decodeFlatMap(bytes: Uint8Array): MapDecoding {
  if (bytes.length > longestMap) return refuse('too-long');
  const first = bytes[0];
  if (first === undefined) return refuse('truncated');
  if (first >> 5 !== major.map) return refuse('not-a-map');
  const count = first & 0x1f;
  return count > entriesLimit ? refuse('too-many') : decodeEntries(bytes, count);
}

function decodeEntries(bytes: Uint8Array, count: number): MapDecoding {
  const map = new Map<number, Item>();
  let at = 1;
  let last = -1;
  while (map.size < count) {
    const key = bytes[at];
    if (key === undefined) return refuse('truncated');
    if (key > highestKey) return refuse('bad-key');
    if (key <= last) return refuse('bad-order');
    const decoding = decodeItem(bytes, at + 1);
    if (decoding.kind === 'refused') return decoding;
    map.set(key, decoding.item);
    last = key;
    at = decoding.end;
  }
  return at === bytes.length ? { kind: 'map', map } : refuse('trailing');
}

type ItemDecoding =
  | { readonly kind: 'item'; readonly item: Item; readonly end: number }
  | { readonly kind: 'refused'; readonly refusal: MapRefusal };

function decodeItem(bytes: Uint8Array, at: number): ItemDecoding {
  const first = bytes[at];
  if (first === undefined) return refuse('truncated');
  if (first === falseByte || first === trueByte) return { kind: 'item', item: first === trueByte, end: at + 1 };
  const type = first >> 5;
  if (type !== major.unsigned && type !== major.bytes && type !== major.text) return refuse('bad-type');
  const head = decodeHead(bytes, at);
  if (head.kind === 'refused') return head;
  const { value, end } = head;
  if (type === major.unsigned) return { kind: 'item', item: value, end };
  if (value > bytes.length - end) return refuse('truncated');
  const body = bytes.slice(end, end + value);
  if (type === major.bytes) return { kind: 'item', item: body, end: end + value };
  const text = Buffer.from(body).toString('latin1');
  return isPrintable(text) ? { kind: 'item', item: text, end: end + value } : refuse('bad-text');
}

type HeadDecoding =
  | { readonly kind: 'head'; readonly value: number; readonly end: number }
  | { readonly kind: 'refused'; readonly refusal: MapRefusal };

/** Largest value that a shorter form holds, by width 1, 2, 4, 8. */
const heldByShorter = [23, 0xff, 0xffff, 0xffffffff];

function decodeHead(bytes: Uint8Array, at: number): HeadDecoding {
  const low = (bytes[at] ?? 0) & 0x1f;
  if (low < 24) return { kind: 'head', value: low, end: at + 1 };
  const shorter = heldByShorter[low - 24];
  if (shorter === undefined) return refuse('bad-type');
  const end = at + 1 + 2 ** (low - 24);
  if (end > bytes.length) return refuse('truncated');
  let value = 0;
  for (const byte of bytes.subarray(at + 1, end)) value = value * 256 + byte;
  if (value <= shorter) return refuse('not-shortest');
  return value > Number.MAX_SAFE_INTEGER ? refuse('too-big') : { kind: 'head', value, end };
}
