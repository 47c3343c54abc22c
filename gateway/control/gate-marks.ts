/**
 * How a door's state and mode are drawn and said: the bar across the gate, then the word. One set, used everywhere. Pure.
 *
 * `tone`: only `passable` is ever green, `attention` amber, `alarm` red; the shape and the word say it without colour.
 */
import type { Language } from '#shared/code.ts';
import type { DoorStatus } from './replies.ts';

export interface GateMark {
  /** Four columns of type. */
  readonly shape: string;
  readonly en: string;
  readonly ja: string;
  readonly tone: 'plain' | 'passable' | 'attention' | 'alarm';
}

const marks = {
  secured: { shape: '┃━━┃', en: 'secured', ja: '施錠', tone: 'plain' },
  releasing: { shape: '┃╱━┃', en: 'releasing', ja: '解錠中', tone: 'plain' },
  released: { shape: '┃╱ ┃', en: 'released', ja: '解錠', tone: 'passable' },
  open: { shape: '┃  ┃', en: 'open', ja: '開扉', tone: 'passable' },
  held: { shape: '┃ ◷┃', en: 'held', ja: '開放放置', tone: 'attention' },
  forced: { shape: '┃╳━┃', en: 'forced', ja: 'こじ開け', tone: 'alarm' },
  securing: { shape: '┃━╲┃', en: 'securing', ja: '施錠中', tone: 'plain' },
  jammed: { shape: '┃╳╳┃', en: 'jammed', ja: '故障', tone: 'alarm' },
  unknown: { shape: '┆╌╌┆', en: 'unknown', ja: '不明', tone: 'attention' },
  controlled: { shape: '┃━━┃', en: 'controlled', ja: '通常', tone: 'plain' },
  lockdown: { shape: '┃══┃', en: 'lockdown', ja: '緊急施錠', tone: 'alarm' },
  free: { shape: '┃╱ ┃', en: 'free', ja: '常時解錠', tone: 'passable' },
  fire: { shape: '┃▲▲┃', en: 'fire', ja: '火災', tone: 'alarm' },
} as const satisfies Record<string, GateMark>;

/** The mark of a state or mode; what is not known looks unknown. */
function markOf(word: string): GateMark {
  return Object.hasOwn(marks, word) ? marks[word as keyof typeof marks] : marks.unknown;
}

/** The one mark of a door: its state, or at rest the mode that holds it there. */
export function gateMark({ state, mode }: Pick<DoorStatus, 'state' | 'mode'>): GateMark {
  const isAtRest = state === 'secured' || state === 'released';
  return markOf(isAtRest && mode !== 'controlled' ? mode : state);
}

/** A state or mode in words; a word of no such kind stays as it is. */
export function gateWord(word: string, language: Language): string {
  return Object.hasOwn(marks, word) ? markOf(word)[language] : word;
}
