/** The CDDL (RFC 8610) of the lock link, written from the tables that encode and decode it. */
import { type Alphabet, type Field, isOptional } from '#protocol/link/field.ts';
import { fromLock } from '#protocol/link/from-lock.ts';
import type { MessageTable } from '#protocol/link/message.ts';
import { toLock } from '#protocol/link/to-lock.ts';

const head = `; Messages of the lock link, version 1 (RFC 8610). Written by tools/generate-link-vectors.ts; do not edit.
;
; Each is one flat map in the deterministic encoding of RFC 8949, 4.2.1, of at most 480 bytes: shortest heads, definite
; lengths, keys ascending, nothing after it. A key that a message does not list is a refusal.
`;

const characters: Readonly<Record<Alphabet, string>> = { printable: '[ -~]', digits: '[0-9]', keypad: '[0-9*#]' };

function typeOf(field: Field): string {
  switch (field.type) {
    case 'uint':
      return field.min === field.max ? `${field.min}` : `${field.min}..${field.max}`;
    case 'bytes':
      return field.min === field.max ? `bstr .size ${field.min}` : `bstr .size (${field.min}..${field.max})`;
    case 'text':
      return `tstr .regexp "${characters[field.alphabet]}{${field.min},${field.max}}"`;
    case 'flag':
      return 'bool';
    case 'choice':
      return `&(${field.names.map((name, place) => `${name}: ${place}`).join(', ')})`;
  }
}

function messageRule(name: string, { code, fields }: MessageTable[string]): string {
  const lines = Object.entries(fields).map(
    ([field, shape]) => `  ${isOptional(shape) ? '? ' : ''}${shape.key} => ${typeOf(shape)}, ; ${field}`,
  );
  return [`${name} = {`, `  0 => ${code},`, ...lines, '}'].join('\n');
}

function direction(name: string, table: MessageTable): string {
  const rules = Object.entries(table).map(([kind, shape]) => messageRule(kind, shape));
  return [`${name} = ${Object.keys(table).join(' / ')}`, ...rules].join('\n\n');
}

/** The text of link.cddl. */
export function linkCddl(): string {
  return `${[head, 'message = to-lock / from-lock', direction('to-lock', toLock), direction('from-lock', fromLock)].join('\n')}\n`;
}
