/**
 * Messages as values and as bytes: a flat map whose key 0 says which message it is.
 *
 * Guarantees: the decoder never throws, and takes only what the encoder makes; a key that a message does not have is a
 * refusal, since half-understood commands are not carried out. The encoder throws `RangeError` for a value that does not
 * fit, which is a bug and no input.
 */
import {
  type FieldRefusal,
  type Fields,
  type FieldValue,
  isOptional,
  itemOf,
  judgeItem,
  type Values,
  valueFrom,
} from './field.ts';
import { decodeFlatMap, encodeFlatMap, type FlatMap, type Item, type MapRefusal } from './flat-map.ts';

export interface MessageShape {
  /** What stands under key 0. */
  readonly code: number;
  readonly fields: Fields;
}

export type MessageTable = Readonly<Record<string, MessageShape>>;

export type MessageOf<Table extends MessageTable> = {
  [Kind in keyof Table & string]: { readonly kind: Kind } & Values<Table[Kind]['fields']>;
}[keyof Table & string];

export type MessageRefusal = MapRefusal | 'unknown-kind' | 'unknown-field' | 'missing-field' | FieldRefusal;

export type MessageDecoding<Message> =
  | { readonly kind: 'message'; readonly message: Message }
  /** `map` where the bytes are at least a map. */
  | { readonly kind: 'refused'; readonly refusal: MessageRefusal; readonly map?: FlatMap };

const kindKey = 0;

/** The longest list of fields keeps key 0 for the kind. */
type AnyValues = Readonly<Record<string, FieldValue | undefined>>;

/** @throws RangeError if a value does not fit. */
export function encodeMessage<Table extends MessageTable>(table: Table, message: MessageOf<Table>): Uint8Array {
  return encodeFlatMap(itemsOf(table, message));
}

/** The message as a map of what stands on the wire. */
export function itemsOf<Table extends MessageTable>(table: Table, message: MessageOf<Table>): FlatMap {
  const shape = table[message.kind];
  if (shape === undefined) throw new RangeError(`no message ${message.kind}`);
  const values: AnyValues = message;
  const items = new Map<number, Item>([[kindKey, shape.code]]);
  for (const [name, field] of Object.entries(shape.fields)) {
    const value = values[name];
    if (value !== undefined) items.set(field.key, itemOf(field, value));
    else if (!isOptional(field)) throw new RangeError(`${message.kind} without ${name}`);
  }
  return items;
}

export function decodeMessage<Table extends MessageTable>(
  table: Table,
  bytes: Uint8Array,
): MessageDecoding<MessageOf<Table>> {
  const decoding = decodeFlatMap(bytes);
  if (decoding.kind === 'refused') return decoding;
  const { map } = decoding;
  const code = map.get(kindKey);
  const found = Object.entries(table).find(([, shape]) => shape.code === code);
  if (found === undefined) return { kind: 'refused', refusal: 'unknown-kind', map };
  const [kind, { fields }] = found;
  const values = readFields(fields, map);
  if (typeof values === 'string') return { kind: 'refused', refusal: values, map };
  // The table's own fields were read by the table's own rules.
  return { kind: 'message', message: { kind, ...values } as MessageOf<Table> };
}

/** The first thing that is wrong, by ascending key: what no field has, then per field its absence, type and range. */
function readFields(fields: Fields, map: FlatMap): Record<string, FieldValue> | MessageRefusal {
  const known = Object.values(fields).map(({ key }) => key);
  for (const key of map.keys()) if (key !== kindKey && !known.includes(key)) return 'unknown-field';
  const values: Record<string, FieldValue> = {};
  for (const [name, field] of Object.entries(fields)) {
    const item = map.get(field.key);
    if (item === undefined) {
      if (isOptional(field)) continue;
      return 'missing-field';
    }
    const refusal = judgeItem(field, item);
    if (refusal !== undefined) return refusal;
    values[name] = valueFrom(field, item);
  }
  return values;
}
