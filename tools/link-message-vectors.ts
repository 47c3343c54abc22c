/** Vectors of the lock link below its sessions: every message at its bounds, broken ones, frames and pieces. */
import { encodeCobs } from '#protocol/link/cobs.ts';
import { crc16 } from '#protocol/link/crc16.ts';
import type { Field, FieldValue } from '#protocol/link/field.ts';
import { fragmentPacket } from '#protocol/link/fragment.ts';
import { fromLock } from '#protocol/link/from-lock.ts';
import { decodeMessage, encodeMessage, itemsOf, type MessageTable } from '#protocol/link/message.ts';
import { decodeSerialFrame, encodeSerialFrame } from '#protocol/link/serial-frame.ts';
import { toLock } from '#protocol/link/to-lock.ts';
import { hexOf, itemsLine } from './link-vector-lines.ts';

export type Direction = 'to-lock' | 'from-lock';
const tables: Readonly<Record<Direction, MessageTable>> = { 'to-lock': toLock, 'from-lock': fromLock };

type Bound = 'least' | 'most';

const sample: Readonly<Record<string, string>> = { printable: 'Az ~', digits: '0918', keypad: '0#*9' };

/** A value at the edge of what the field allows. */
function bound(field: Field, which: Bound): FieldValue {
  switch (field.type) {
    case 'uint':
      return which === 'least' ? field.min : field.max;
    case 'flag':
      return which === 'most';
    case 'choice':
      return field.names.at(which === 'least' ? 0 : -1) ?? '';
    case 'bytes':
      return Uint8Array.from({ length: which === 'least' ? field.min : field.max }, (_, at) => (at * 37 + 0x80) & 0xff);
    case 'text':
      return (sample[field.alphabet] ?? '').repeat(64).slice(0, which === 'least' ? field.min : field.max);
  }
}

interface Values {
  readonly kind: string;
  readonly [field: string]: FieldValue;
}

function boundsOf(kind: string, fields: MessageTable[string]['fields'], which: Bound): Values {
  const chosen = Object.entries(fields).filter(([, field]) => which === 'most' || !('isOptional' in field));
  return { kind, ...Object.fromEntries(chosen.map(([name, field]) => [name, bound(field, which)])) };
}

const readable = (values: Values) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value instanceof Uint8Array ? { hex: hexOf(value) } : value]),
  );

function goodVector(direction: Direction, table: MessageTable, values: Values, name: string) {
  const hex = hexOf(encodeMessage(table, values));
  return { name, direction, message: readable(values), items: itemsLine(itemsOf(table, values)), hex };
}

/** Every message with the least and the most it may hold. */
export function messageVectors() {
  return (['to-lock', 'from-lock'] as const).flatMap((direction) =>
    Object.entries(tables[direction]).flatMap(([kind, { fields }]) =>
      (['least', 'most'] as const).map((which) =>
        goodVector(direction, tables[direction], boundsOf(kind, fields, which), `${kind}, the ${which} it holds`),
      ),
    ),
  );
}

/** What is wrong, in the direction to the lock unless said otherwise, and the bytes. */
const broken: readonly (readonly [name: string, hex: string, direction?: Direction])[] = [
  ['nothing', ''],
  ['an array', '80'],
  ['a number', '01'],
  ['a map of indefinite length', 'bf00020101ff'],
  ['a map whose count is in a second byte', 'b8030002010102182a'],
  ['sixteen entries', `b0${Array.from({ length: 16 }, (_, key) => `${key.toString(16).padStart(2, '0')}01`).join('')}`],
  ['an empty map', 'a0'],
  ['a map that ends after its head', 'a3'],
  ['a map that ends after a key', 'a300'],
  ['a map that ends inside a number', 'a3000201010219'],
  ['a map that ends inside bytes', 'a5000a010102182a035820aabb'],
  ['one byte too many', 'a3000201010218ff00'],
  ['two maps', 'a3000201010218ffa0'],
  ['a key of two bytes', 'a3000201011818182a'],
  ['a key that is text', 'a300020101616102'],
  ['a key twice', 'a300020101010218'],
  ['keys that descend', 'a3000202182a0101'],
  ['a number in two bytes that fits one', 'a300020101021817'],
  ['a number in three bytes that fits two', 'a3000201010219002a'],
  ['a number in five bytes that fits three', 'a300020101021a0000ffff'],
  ['a number in nine bytes that fits five', 'a300020101021b00000000ffffffff'],
  ['a number above 2^53 - 1', 'a300020101021b0020000000000000'],
  ['a length above 2^53 - 1', 'a5000a010102182a035bffffffffffffffff'],
  ['a negative number', 'a3000201010220'],
  ['a negative key', 'a30002200101'],
  ['a nested map', 'a300020101 02a0'.replace(' ', '')],
  ['a nested array', 'a300020101 0280'.replace(' ', '')],
  ['a tag', 'a300020101 02c11a00000001'.replace(' ', '')],
  ['null', 'a30002010102f6'],
  ['undefined', 'a30002010102f7'],
  ['a half float', 'a30002010102f90000'],
  ['a simple value', 'a30002010102f820'],
  ['bytes of indefinite length', 'a5000a010102182a035f41aaff'],
  ['a reserved head', 'a300020101021c'],
  ['text with a control character', 'a600050101021820030004010561 0a'.replace(' ', '')],
  ['text beyond ASCII', 'a600070101021820 030104 6401c3a431'.replaceAll(' ', '')],
  ['no kind', 'a201010218ff'],
  ['a kind that is text', 'a3006161010102182a'],
  ['a kind nobody knows', 'a30017010102182a'],
  ['a message of the other direction', 'a500182101010201030004f4'],
  ['a key the message does not have', 'a40002010102182a0300'],
  ['no number', 'a2000202182a'],
  ['no lifetime', 'a200020101'],
  ['no length of a release', 'a30001010102182a'],
  ['number 0', 'a30002010002182a'],
  ['a number of 2^32', 'a30002011b000000010000000002182a'],
  ['a number as text', 'a3000201613102182a'],
  ['a lifetime as a flag', 'a30002010102f5'],
  ['a release of 99 ms', 'a40001010102182a031863'],
  ['a release of 600 001 ms', 'a40001010102182a031a000927c1'],
  ['a setting nobody knows', 'a50005010102182a03050400'],
  ['slot 1000', 'a50007010102182a031903e8046431323334'],
  ['a code of three digits', 'a50007010102182a03000463313233'],
  ['a code of eleven digits', 'a50007010102182a0300046b3131313131313131313131'],
  ['a code with a letter', 'a50007010102182a0300046431323361'],
  ['a code as bytes', 'a50007010102182a0300044431323334'],
  ['a key of 31 bytes', `a4000a010102182a03581f${'11'.repeat(31)}`],
  ['a key of 33 bytes', `a4000a010102182a035821${'11'.repeat(33)}`],
  ['an empty chunk', 'a5000c010102182a03000440'],
  ['a chunk of 385 bytes', `a5000c010102182a030004590181${'22'.repeat(385)}`],
  ['481 bytes', `a40001010102182a035901d6${'33'.repeat(470)}`],
  ['a result nobody knows', 'a500182101010201030704f4', 'from-lock'],
  ['an ack without its flag', 'a4001821010102010300', 'from-lock'],
  ['a flag as a number', 'a50018210101020103000400', 'from-lock'],
  ['a battery of 101 percent', 'a8001822010103010401051865 06f407f4086131'.replace(' ', ''), 'from-lock'],
  ['a card without bits', 'a5001823010102000340 0400'.replace(' ', ''), 'from-lock'],
  ['eight unused bits', 'a500182301010200 0341aa0408'.replace(' ', ''), 'from-lock'],
  ['keys with a letter', 'a40018240101020003624142', 'from-lock'],
  ['an age above an hour', 'a4001824010102 1a0036ee81 036131'.replaceAll(' ', ''), 'from-lock'],
  ['a command as an answer', 'a30002010102182a', 'from-lock'],
];

/** Bytes that are no message, and the first thing that is wrong with each. */
export function malformedVectors() {
  return broken.map(([name, hex, direction = 'to-lock']) => {
    const decoding = decodeMessage(tables[direction], Buffer.from(hex, 'hex'));
    if (decoding.kind !== 'refused') throw new Error(`${name} is not refused`);
    return { name, direction, hex, refusal: decoding.refusal };
  });
}

const count = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => at & 0xff);

export function stuffingVectors() {
  const clears = [count(0), count(1), Uint8Array.of(0, 0), Uint8Array.of(0x11, 0x22, 0, 0x33)];
  const runs = [253, 254, 255, 256, 510].flatMap((length) => [count(length), count(length + 1).subarray(1)]);
  return [...clears, ...runs, new Uint8Array(300).fill(7)].map((clear) => ({
    clear: hexOf(clear),
    stuffed: hexOf(encodeCobs(clear)),
  }));
}

export function frameVectors() {
  const good = [
    { address: 0, turn: 0, isFresh: true, isAnswer: false, packet: count(0) },
    { address: 254, turn: 1, isFresh: false, isAnswer: true, packet: count(0) },
    { address: 7, turn: 0, isFresh: false, isAnswer: false, packet: count(50) },
    { address: 7, turn: 1, isFresh: false, isAnswer: true, packet: count(506) },
  ] as const;
  const [first = ''] = good.map((frame) => hexOf(encodeSerialFrame(frame).subarray(0, -1)));
  const stuffed = (hex: string): string => hexOf(encodeCobs(Buffer.from(hex, 'hex')));
  const bad = [
    ['a wrong check', stuffed('0702aaffff')],
    ['too short for a check', stuffed('070200')],
    ['a zero inside', `${first.slice(0, 4)}00${first.slice(6)}`],
    ['a run that ends too early', '05aabb'],
    ['address 255', hexOf(encodeCobs(withCheck(Uint8Array.of(0xff, 0))))],
    ['an unknown control bit', hexOf(encodeCobs(withCheck(Uint8Array.of(7, 4))))],
    ['a packet of 507 bytes', hexOf(encodeCobs(withCheck(Uint8Array.from([7, 0, ...count(507)]))))],
    ['nothing', ''],
  ] as const;
  return {
    good: good.map((frame) => ({ ...frame, packet: hexOf(frame.packet), hex: hexOf(encodeSerialFrame(frame)) })),
    bad: bad.map(([name, hex]) => {
      const decoding = decodeSerialFrame(Buffer.from(hex, 'hex'));
      if (decoding.kind !== 'dropped') throw new Error(`${name} is not dropped`);
      return { name, stuffed: hex, fault: decoding.fault };
    }),
  };
}

function withCheck(body: Uint8Array): Uint8Array {
  const check = crc16(body);
  return Uint8Array.from([...body, check >> 8, check & 0xff]);
}

export function pieceVectors() {
  return [
    { size: 20, sequence: 0, packet: count(1) },
    { size: 20, sequence: 60, packet: count(100) },
    { size: 244, sequence: 63, packet: count(506) },
    { size: 2, sequence: 5, packet: count(3) },
  ].map(({ size, sequence, packet }) => ({
    size,
    sequence,
    packet: hexOf(packet),
    pieces: fragmentPacket(packet, size, sequence).pieces.map(hexOf),
  }));
}
