/**
 * OUT (68): sets outputs, one record of four bytes each.
 *
 * `on-for-timer` and `off-for-timer` end by the peripheral's own timer: a release never depends on a second command.
 * The `-after-timer` pair takes effect when a running timer ends; `on` and `off` cancel it.
 */
import { readU16, u16 } from '../little-endian.ts';
import { byte, type Malformed, type MessageCodec, placeOf, wrongLength, wrongValue } from '../message-codec.ts';

const actions = ['nothing', 'off', 'on', 'off-after-timer', 'on-after-timer', 'on-for-timer', 'off-for-timer'] as const;

interface OutputRecord {
  /** From 0. */
  readonly output: number;
  readonly action: (typeof actions)[number];
  /** Tenths of a second, 0–65535. */
  readonly timerTenths: number;
}

interface OutputCommand {
  readonly kind: 'output';
  readonly records: readonly OutputRecord[];
}

const code = 0x68;
const recordLength = 4;

export const outputCommand: MessageCodec<OutputCommand> = {
  kind: 'output',
  code,
  encode: ({ records }) =>
    Uint8Array.from(
      records.flatMap(({ output, action, timerTenths }) => [
        byte(output, 'output'),
        placeOf(actions, action),
        ...u16(timerTenths, 'timer'),
      ]),
    ),
  decode,
};

function decode(data: Uint8Array): OutputCommand | Malformed {
  if (data.length === 0 || data.length % recordLength !== 0) {
    return wrongLength(code, data.length, `records of ${recordLength}`);
  }
  const records: OutputRecord[] = [];
  for (let at = 0; at < data.length; at += recordLength) {
    const action = actions[data[at + 1] ?? 0];
    if (action === undefined) return wrongValue(code, `output action ${data[at + 1]}`);
    records.push({ output: data[at] ?? 0, action, timerTenths: readU16(data, at + 2) });
  }
  return { kind: 'output', records };
}
