/** BUZ (6A): sounds a reader. Times in tenths of a second; readers refuse an on-time of 0 unless the tone is `off`. */
import { byte, type Malformed, type MessageCodec, placeOf, wrongLength, wrongValue } from '../message-codec.ts';

const tones = ['none', 'off', 'default'] as const;

interface BuzzerCommand {
  readonly kind: 'buzzer';
  readonly reader: number;
  readonly tone: (typeof tones)[number];
  readonly onTenths: number;
  readonly offTenths: number;
  /** How often; 0 = until told otherwise. */
  readonly count: number;
}

const code = 0x6a;

export const buzzerCommand: MessageCodec<BuzzerCommand> = {
  kind: 'buzzer',
  code,
  encode: ({ reader, tone, onTenths, offTenths, count }) => {
    if (tone === 'default' && onTenths === 0) throw new RangeError('a buzzer needs an on-time');
    return Uint8Array.of(
      byte(reader, 'reader'),
      placeOf(tones, tone),
      byte(onTenths, 'on'),
      byte(offTenths, 'off'),
      byte(count, 'count'),
    );
  },
  decode,
};

function decode(data: Uint8Array): BuzzerCommand | Malformed {
  const [reader, toneNumber, onTenths, offTenths, count] = data;
  if (count === undefined || data.length !== 5) return wrongLength(code, data.length, '5');
  const tone = tones[toneNumber ?? 0];
  if (tone === undefined) return wrongValue(code, `tone ${toneNumber}`);
  if (tone === 'default' && onTenths === 0) return wrongValue(code, 'a tone without on-time');
  return { kind: 'buzzer', reader: reader ?? 0, tone, onTenths: onTenths ?? 0, offTenths: offTenths ?? 0, count };
}
