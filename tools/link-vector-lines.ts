/**
 * The lock link's vectors as lines of text, for programs without a JSON parser: `> ` is said to a lock, `< ` is what it
 * must answer. The reference in C reads the same lines from its standard input.
 */
import type { FlatMap, Item } from '#protocol/link/flat-map.ts';
import { fromLock } from '#protocol/link/from-lock.ts';
import type { LockEffect, LockInput } from '#protocol/link/lock-port.ts';
import { itemsOf } from '#protocol/link/message.ts';
import { type ToLock, toLock } from '#protocol/link/to-lock.ts';

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
/** An empty value is written as `-`, so that every line has as many words as it should. */
export const word = (bytes: Uint8Array | undefined): string =>
  bytes === undefined || bytes.length === 0 ? '-' : hexOf(bytes);

function itemLine(item: Item): string {
  if (typeof item === 'number') return `u${item}`;
  if (typeof item === 'boolean') return `f${item ? 1 : 0}`;
  return typeof item === 'string' ? `t${hexOf(Buffer.from(item, 'latin1'))}` : `b${hexOf(item)}`;
}

/** `0=u1,1=u7,…`: u is a number, b bytes, t text as hex, f a flag. */
export function itemsLine(map: FlatMap): string {
  return [...map].map(([key, item]) => `${key}=${itemLine(item)}`).join(',');
}

const commandLine = (command: ToLock): string => itemsLine(itemsOf(toLock, command));

/** Uptime and number are filled in by the lock itself. */
const without = (map: FlatMap, ...keys: readonly number[]): FlatMap =>
  new Map([...map].filter(([key]) => !keys.includes(key)));
const uptime = 0;

/** An input of a lock's session as one line. */
export function inputLine(input: LockInput): string {
  switch (input.kind) {
    case 'packet':
      return `packet ${input.at} ${word(input.entropy)} ${word(input.bytes)}`;
    case 'done':
    case 'refuse': {
      const ack = itemsOf(fromLock, { kind: 'ack', uptime, request: 1, result: input.result, isRepeated: false });
      const result = ack.get(3);
      return `${input.kind} ${input.at} ${input.ticket.session} ${input.ticket.request} ${Number(result)}`;
    }
    case 'answer': {
      const { session, request } = input.ticket;
      const items = itemsOf(fromLock, { ...input.answer, uptime, request });
      return `answer ${input.at} ${session} ${request} ${itemsLine(without(items, 1, 2))}`;
    }
    case 'tell':
      return `tell ${input.at} ${itemsLine(without(itemsOf(fromLock, { ...input.message, uptime }), 1))}`;
    case 'keys':
      return `keys ${hexOf(input.key)} ${word(input.candidate)}`;
  }
}

/** An effect of a lock's session as one line. */
export function effectLine(effect: LockEffect): string {
  switch (effect.kind) {
    case 'transmit':
      return `transmit ${hexOf(effect.bytes)}`;
    case 'execute':
      return `execute ${effect.ticket.session} ${effect.ticket.request} ${commandLine(effect.command)}`;
    case 'ask':
      return `ask ${effect.ticket.session} ${effect.ticket.request} ${commandLine(effect.question)}`;
    case 'session':
      return `session ${effect.session}`;
    case 'key-confirmed':
      return `key-confirmed ${hexOf(effect.key)}`;
    case 'dropped':
      return `dropped ${effect.reason}`;
    case 'untold':
      return 'untold';
  }
}
