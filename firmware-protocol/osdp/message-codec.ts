/**
 * What every command and reply file provides: one message, its encoder beside its decoder.
 *
 * Guarantee: a decoder never throws and never reads outside its data; an encoder throws `RangeError` for a value that
 * does not fit the wire, since that is a bug of ours and no input.
 */

/** A message whose bytes do not follow the rules. `fault` is what a peripheral answers: NAK 2 (length) or NAK 9 (value). */
export interface Malformed {
  readonly kind: 'malformed';
  readonly code: number;
  readonly fault: 'length' | 'value';
  /** What is wrong, without the bytes. */
  readonly problem: string;
}

/** A code this program does not know, with its data as received. */
export interface UnknownMessage {
  readonly kind: 'unknown';
  readonly code: number;
  readonly data: Uint8Array;
}

export interface MessageCodec<Message extends { readonly kind: string }> {
  readonly kind: Message['kind'];
  /** Command or reply code, 0–255. */
  readonly code: number;
  /** @throws RangeError if a field does not fit. */
  readonly encode: (message: Message) => Uint8Array;
  readonly decode: (data: Uint8Array) => Message | Malformed;
}

export function wrongLength(code: number, got: number, expected: string): Malformed {
  return { kind: 'malformed', code, fault: 'length', problem: `${got} bytes of data instead of ${expected}` };
}

export function wrongValue(code: number, problem: string): Malformed {
  return { kind: 'malformed', code, fault: 'value', problem };
}

/** A message that is only its code. */
export function emptyMessage<Kind extends string>(kind: Kind, code: number): MessageCodec<{ readonly kind: Kind }> {
  return {
    kind,
    code,
    encode: () => new Uint8Array(0),
    decode: (data) => (data.length === 0 ? { kind } : wrongLength(code, data.length, 'none')),
  };
}

/** @throws RangeError unless `value` is an integer of 0–`max`. */
export function within(max: number, value: number, what: string): number {
  if (!Number.isInteger(value) || value < 0 || value > max) throw new RangeError(`${what} ${value} is not 0–${max}`);
  return value;
}

export const byte = (value: number, what: string): number => within(0xff, value, what);

/** @throws RangeError unless `bytes` has exactly that length. */
export function sized(length: number, bytes: Uint8Array, what: string): Uint8Array {
  if (bytes.length !== length) throw new RangeError(`${what} has ${bytes.length} bytes instead of ${length}`);
  return bytes;
}

/** The place of `name` in a list of names whose places are the numbers on the wire. */
export function placeOf<Name extends string>(names: readonly Name[], name: Name): number {
  const place = names.indexOf(name);
  if (place < 0) throw new RangeError(`no number for ${name}`);
  return place;
}
