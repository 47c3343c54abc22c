/** TEXT (6B): writes to a reader's display. */
import { byte, type Malformed, type MessageCodec, placeOf, within, wrongLength, wrongValue } from '../message-codec.ts';

const modes = ['permanent', 'permanent-wrapped', 'temporary', 'temporary-wrapped'] as const;

interface TextCommand {
  readonly kind: 'text';
  readonly reader: number;
  readonly mode: (typeof modes)[number];
  /** How long temporary text stays, 0–255. */
  readonly seconds: number;
  /** From 1. */
  readonly row: number;
  /** From 1. */
  readonly column: number;
  /** One byte a character, up to 255; displays understand ASCII 0x20–0x7E. */
  readonly text: string;
}

const code = 0x6b;
const headLength = 6;

export const textCommand: MessageCodec<TextCommand> = {
  kind: 'text',
  code,
  encode: ({ reader, mode, seconds, row, column, text }) =>
    Uint8Array.of(
      byte(reader, 'reader'),
      placeOf(modes, mode) + 1,
      byte(seconds, 'seconds'),
      byte(row, 'row'),
      byte(column, 'column'),
      within(0xff, text.length, 'length of the text'),
      ...Array.from(text, (character) => byte(character.codePointAt(0) ?? 0, 'character')),
    ),
  decode,
};

function decode(data: Uint8Array): TextCommand | Malformed {
  const [reader = 0, modeNumber = 0, seconds = 0, row = 0, column = 0, length = 0] = data;
  if (data.length < headLength || data.length !== headLength + length) {
    return wrongLength(code, data.length, `${headLength} and the text`);
  }
  const mode = modes[modeNumber - 1];
  if (mode === undefined) return wrongValue(code, `text mode ${modeNumber}`);
  return { kind: 'text', reader, mode, seconds, row, column, text: String.fromCharCode(...data.subarray(headLength)) };
}
