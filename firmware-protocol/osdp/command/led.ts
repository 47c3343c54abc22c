/**
 * LED (69): what the lamps of a reader show, one record of fourteen bytes each.
 *
 * A record has a temporary half, which runs by its timer, and a permanent half, which shows when no temporary runs.
 * Guarantee: the half that is not meant travels as "nothing": its number 1 would mean cancel in one half, set in the other.
 * A set half with neither on- nor off-time is refused in both directions, since readers answer it with NAK 9 or flicker.
 */
import { readU16, u16 } from '../little-endian.ts';
import { byte, type Malformed, type MessageCodec, placeOf, wrongLength, wrongValue } from '../message-codec.ts';

const colors = ['off', 'red', 'green', 'amber', 'blue', 'magenta', 'cyan', 'white'] as const;
export type LedColor = (typeof colors)[number];

/** Times in tenths of a second, 0–255, not both 0. Solid: `offTenths` 0 and `offColor` the same as `onColor`. */
export interface LedPattern {
  readonly onTenths: number;
  readonly offTenths: number;
  readonly onColor: LedColor;
  readonly offColor: LedColor;
}

type TemporaryLed =
  | { readonly action: 'nothing' }
  | { readonly action: 'cancel' }
  /** `timerTenths`: 0–65535 tenths of a second, then the permanent pattern shows again. */
  | (LedPattern & { readonly action: 'set'; readonly timerTenths: number });

type PermanentLed = { readonly action: 'nothing' } | (LedPattern & { readonly action: 'set' });

interface LedRecord {
  readonly reader: number;
  readonly led: number;
  readonly temporary: TemporaryLed;
  readonly permanent: PermanentLed;
}

interface LedCommand {
  readonly kind: 'led';
  readonly records: readonly LedRecord[];
}

const code = 0x69;
const recordLength = 14;

export const ledCommand: MessageCodec<LedCommand> = {
  kind: 'led',
  code,
  encode: ({ records }) => Uint8Array.from(records.flatMap(encodeRecord)),
  decode,
};

function encodeRecord({ reader, led, temporary, permanent }: LedRecord): number[] {
  return [byte(reader, 'reader'), byte(led, 'led'), ...encodeTemporary(temporary), ...encodePermanent(permanent)];
}

function encodeTemporary(temporary: TemporaryLed): number[] {
  if (temporary.action === 'nothing') return [0, 0, 0, 0, 0, 0, 0];
  if (temporary.action === 'cancel') return [1, 0, 0, 0, 0, 0, 0];
  return [2, ...encodePattern(temporary), ...u16(temporary.timerTenths, 'timer')];
}

function encodePermanent(permanent: PermanentLed): number[] {
  return permanent.action === 'nothing' ? [0, 0, 0, 0, 0] : [1, ...encodePattern(permanent)];
}

function encodePattern({ onTenths, offTenths, onColor, offColor }: LedPattern): number[] {
  if (onTenths === 0 && offTenths === 0) throw new RangeError('a lamp needs an on- or an off-time');
  return [byte(onTenths, 'on'), byte(offTenths, 'off'), placeOf(colors, onColor), placeOf(colors, offColor)];
}

function decode(data: Uint8Array): LedCommand | Malformed {
  if (data.length === 0 || data.length % recordLength !== 0) {
    return wrongLength(code, data.length, `records of ${recordLength}`);
  }
  const records: LedRecord[] = [];
  for (let at = 0; at < data.length; at += recordLength) {
    const temporary = decodeTemporary(data.subarray(at + 2, at + 9));
    const permanent = decodePermanent(data.subarray(at + 9, at + recordLength));
    if (temporary === undefined || permanent === undefined) return wrongValue(code, 'lamp action, colour or times');
    records.push({ reader: data[at] ?? 0, led: data[at + 1] ?? 0, temporary, permanent });
  }
  return { kind: 'led', records };
}

function decodeTemporary(half: Uint8Array): TemporaryLed | undefined {
  if (half[0] === 0) return { action: 'nothing' };
  if (half[0] === 1) return { action: 'cancel' };
  const pattern = half[0] === 2 ? decodePattern(half) : undefined;
  return pattern && { action: 'set', ...pattern, timerTenths: readU16(half, 5) };
}

function decodePermanent(half: Uint8Array): PermanentLed | undefined {
  if (half[0] === 0) return { action: 'nothing' };
  const pattern = half[0] === 1 ? decodePattern(half) : undefined;
  return pattern && { action: 'set', ...pattern };
}

function decodePattern(half: Uint8Array): LedPattern | undefined {
  const onTenths = half[1] ?? 0;
  const offTenths = half[2] ?? 0;
  const onColor = colors[half[3] ?? 0];
  const offColor = colors[half[4] ?? 0];
  if (onColor === undefined || offColor === undefined || onTenths + offTenths === 0) return undefined;
  return { onTenths, offTenths, onColor, offColor };
}
