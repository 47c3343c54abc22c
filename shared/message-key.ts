/**
 * What is wrong with a field, as a key that a program matches and a sentence that a person reads.
 *
 * Keys are dotted and closed, and travel beside the field's path. Numbers stand in for `{limit}`.
 */
import type { Language } from './code.ts';

const messages = {
  'field.required': ['is missing', 'は必須です'],
  'field.unknown': ['is not known', 'は使えない項目です'],
  'field.wrong_type': ['must be {limit}', 'は {limit} で指定してください'],
  'field.not_allowed': ['must be one of {limit}', 'は {limit} のいずれかにしてください'],
  'field.too_small': ['must be at least {limit}', 'は {limit} 以上にしてください'],
  'field.too_big': ['must be at most {limit}', 'は {limit} 以下にしてください'],
  'field.too_short': ['must have at least {limit}', 'は {limit} 以上の長さにしてください'],
  'field.too_long': ['must have at most {limit}', 'は {limit} 以下の長さにしてください'],
  'field.malformed': ['is not in the right form', 'の形式が正しくありません'],
  'field.invalid': ['is not valid', 'の値が正しくありません'],
  'field.reference_unknown': ['names nothing that exists here', 'が指すものは見つかりません'],
  'field.taken': ['is taken already', 'はすでに使われています'],
  'field.twice': ['says the same thing twice', 'に同じものが2回あります'],
  'field.end_before_start': ['ends before it starts', 'の終わりが始まりより前です'],
} as const satisfies Record<string, readonly [en: string, ja: string]>;

export type MessageKey = keyof typeof messages;

/** Whether a text is one of our keys; schemas may give one as their own message. */
export const isMessageKey = (text: string): text is MessageKey => Object.hasOwn(messages, text);

export const messageKeys = Object.keys(messages) as readonly MessageKey[];

/** What a person reads after the field's name. */
export function messageText(key: MessageKey, language: Language, limit = ''): string {
  return messages[key][language === 'ja' ? 1 : 0].replace('{limit}', limit);
}
