/**
 * The doors at a glance: a gate for each, drawn as its bar lies, with its name and its state in words.
 *
 * Shape, then word, then colour; colour is left out unless asked for. Pure.
 */
import { gateMark } from '#gateway/control/gate-marks.ts';
import type { DoorStatus } from '#gateway/control/replies.ts';
import type { Language } from '#shared/code.ts';

const colours = { plain: '', passable: '\x1b[32m', attention: '\x1b[33m', alarm: '\x1b[31m' } as const;

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
  const gate = gateMark(door);
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
