/**
 * The doors at a glance: a gate for each, drawn as its bar lies, with its name and its state in words.
 *
 * Shape, then word, then colour; colour is left out unless asked for. Pure.
 */
import type { DoorStatus } from '#gateway/control/replies.ts';
import type { Language } from '#shared/code.ts';

interface Gate {
  readonly shape: string;
  readonly en: string;
  readonly ja: string;
  readonly tone: 'plain' | 'passable' | 'attention' | 'alarm';
}

const gates = {
  secured: { shape: '┃━━┃', en: 'secured', ja: '施錠', tone: 'plain' },
  releasing: { shape: '┃╱━┃', en: 'releasing', ja: '解錠中', tone: 'plain' },
  released: { shape: '┃╱ ┃', en: 'released', ja: '解錠', tone: 'passable' },
  open: { shape: '┃  ┃', en: 'open', ja: '開扉', tone: 'passable' },
  held: { shape: '┃ ◷┃', en: 'held', ja: '開放放置', tone: 'attention' },
  forced: { shape: '┃╳━┃', en: 'forced', ja: 'こじ開け', tone: 'alarm' },
  securing: { shape: '┃━╲┃', en: 'securing', ja: '施錠中', tone: 'plain' },
  jammed: { shape: '┃╳╳┃', en: 'jammed', ja: '故障', tone: 'alarm' },
  unknown: { shape: '┆╌╌┆', en: 'unknown', ja: '不明', tone: 'attention' },
  lockdown: { shape: '┃══┃', en: 'lockdown', ja: '緊急施錠', tone: 'alarm' },
  free: { shape: '┃╱ ┃', en: 'free', ja: '常時解錠', tone: 'passable' },
  fire: { shape: '┃▲▲┃', en: 'fire', ja: '火災', tone: 'alarm' },
} as const satisfies Record<string, Gate>;

const colours = { plain: '', passable: '\x1b[32m', attention: '\x1b[33m', alarm: '\x1b[31m' } as const;

function gateOf(door: DoorStatus): Gate {
  const isAtRest = door.state === 'secured' || door.state === 'released';
  const name = isAtRest && door.mode !== 'controlled' ? door.mode : door.state;
  return name in gates ? gates[name as keyof typeof gates] : gates.unknown;
}

export interface PictureStyle {
  readonly language: Language;
  readonly hasColour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
}

const gap = 2;

/** A rule, then two lines a row of doors: the gates with their names, the words. As many doors a row as fit. */
export function drawDoors(doors: readonly DoorStatus[], style: PictureStyle): readonly string[] {
  const cells = doors.map((door) => cellOf(door, style));
  const cellWidth = Math.max(0, ...cells.map((cell) => cell.width)) + gap;
  const perRow = Math.max(1, Math.floor((style.width - 1 + gap) / cellWidth));
  const ruled = cellWidth * Math.min(perRow, cells.length) - gap;
  const lines = ['─'.repeat(Math.max(1, Math.min(style.width - 1, ruled)))];
  for (let first = 0; first < cells.length; first += perRow) {
    const row = cells.slice(first, first + perRow);
    const line = (pick: (cell: Cell) => Part) =>
      row
        .map((cell) => padded(pick(cell), cellWidth))
        .join('')
        .trimEnd();
    lines.push(
      line((cell) => cell.top),
      line((cell) => cell.bottom),
    );
  }
  return lines;
}

/** A text with the columns it takes; colour takes none. */
interface Part {
  readonly text: string;
  readonly width: number;
}

interface Cell {
  readonly top: Part;
  readonly bottom: Part;
  readonly width: number;
}

/** With the space after it. */
const gateWidth = 5;

function cellOf(door: DoorStatus, style: PictureStyle): Cell {
  const gate = gateOf(door);
  const tint = (text: string) =>
    style.hasColour && gate.tone !== 'plain' ? `${colours[gate.tone]}${text}\x1b[0m` : text;
  const word = gate[style.language];
  const top = { text: `${tint(gate.shape)} ${door.name}`, width: gateWidth + columns(door.name) };
  const bottom = { text: `${' '.repeat(gateWidth)}${tint(word)}`, width: gateWidth + columns(word) };
  return { top, bottom, width: Math.max(top.width, bottom.width) };
}

const padded = (part: Part, width: number) => part.text + ' '.repeat(Math.max(0, width - part.width));

/** Terminal columns of a text: East Asian wide characters take two. */
export function columns(text: string): number {
  let width = 0;
  for (const character of text)
    width += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(
      character,
    )
      ? 2
      : 1;
  return width;
}
