/**
 * The fields of messages: what may stand under a key, and what it is called here.
 *
 * One description of a field gives its check in both directions, its TypeScript type and its line of CDDL.
 */

/** Which characters a text may have. */
export type Alphabet = 'printable' | 'digits' | 'keypad';

export type Field =
  | { readonly type: 'uint'; readonly key: number; readonly min: number; readonly max: number }
  | { readonly type: 'bytes'; readonly key: number; readonly min: number; readonly max: number }
  | {
      readonly type: 'text';
      readonly key: number;
      readonly min: number;
      readonly max: number;
      readonly alphabet: Alphabet;
    }
  | { readonly type: 'flag'; readonly key: number }
  /** A name that travels as its place in the list. */
  | { readonly type: 'choice'; readonly key: number; readonly names: readonly string[] };

export type Optional<F extends Field> = F & { readonly isOptional: true };

export const uint = (key: number, min: number, max: number) => ({ type: 'uint', key, min, max }) as const;
/** @param min, max length in bytes. */
export const bytes = (key: number, min: number, max: number) => ({ type: 'bytes', key, min, max }) as const;
/** @param min, max length in characters. */
export const text = (key: number, min: number, max: number) =>
  ({ type: 'text', key, min, max, alphabet: 'printable' }) as const;
export const digits = (key: number, min: number, max: number) =>
  ({ type: 'text', key, min, max, alphabet: 'digits' }) as const;
/** Keys as pressed: `0`–`9`, `*` and `#`. */
export const keypad = (key: number, min: number, max: number) =>
  ({ type: 'text', key, min, max, alphabet: 'keypad' }) as const;
export const flag = (key: number) => ({ type: 'flag', key }) as const;
export const choice = <const Names extends readonly string[]>(key: number, names: Names) =>
  ({ type: 'choice', key, names }) as const;
export const optional = <F extends Field>(field: F): Optional<F> => ({ ...field, isOptional: true });

export const isOptional = (field: Field): boolean => 'isOptional' in field;

type ValueOf<F> = F extends { readonly type: 'uint' }
  ? number
  : F extends { readonly type: 'bytes' }
    ? Uint8Array
    : F extends { readonly type: 'text' }
      ? string
      : F extends { readonly type: 'flag' }
        ? boolean
        : F extends { readonly type: 'choice'; readonly names: readonly (infer Name)[] }
          ? Name
          : never;

export type Fields = Readonly<Record<string, Field>>;

type OptionalNames<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { readonly isOptional: true } ? Name : never;
}[keyof F];

/** The values of a message with these fields. */
export type Values<F extends Fields> = {
  readonly [Name in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[Name]>;
} & {
  readonly [Name in OptionalNames<F>]?: ValueOf<F[Name]>;
};

const characters: Readonly<Record<Alphabet, RegExp>> = {
  printable: /^[\x20-\x7e]*$/,
  digits: /^[0-9]*$/,
  keypad: /^[0-9*#]*$/,
};

/** A value as it is called here. */
export type FieldValue = number | Uint8Array | string | boolean;

export type FieldRefusal = 'wrong-type' | 'out-of-range';

/** What stands on the wire for a value. @throws RangeError for a value that does not fit, which is a bug. */
export function itemOf(field: Field, value: FieldValue): FieldValue {
  const item = field.type === 'choice' ? field.names.indexOf(String(value)) : value;
  const refusal = judgeItem(field, item);
  if (refusal !== undefined) throw new RangeError(`${String(value)} is ${refusal} for key ${field.key}`);
  return item;
}

/** What a good item means. */
export function valueFrom(field: Field, item: FieldValue): FieldValue {
  return field.type === 'choice' && typeof item === 'number' ? (field.names[item] ?? '') : item;
}

/** @returns `undefined` for an item that the field allows. */
export function judgeItem(field: Field, item: FieldValue): FieldRefusal | undefined {
  switch (field.type) {
    case 'flag':
      return typeof item === 'boolean' ? undefined : 'wrong-type';
    case 'uint':
      return typeof item === 'number' ? within(item, field.min, field.max) : 'wrong-type';
    case 'choice':
      return typeof item === 'number' ? within(item, 0, field.names.length - 1) : 'wrong-type';
    case 'bytes':
      return item instanceof Uint8Array ? within(item.length, field.min, field.max) : 'wrong-type';
    case 'text':
      return typeof item === 'string' ? judgeText(field, item) : 'wrong-type';
  }
}

function judgeText(field: Extract<Field, { readonly type: 'text' }>, item: string): FieldRefusal | undefined {
  return characters[field.alphabet].test(item) ? within(item.length, field.min, field.max) : 'out-of-range';
}

function within(value: number, min: number, max: number): FieldRefusal | undefined {
  return value >= min && value <= max ? undefined : 'out-of-range';
}
