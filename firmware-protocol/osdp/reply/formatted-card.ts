/** FMT (51): a card as text the reader formatted. Withdrawn from the standard; read so that it can be named, never decided on. */
import { byte, type MessageCodec, within, wrongLength } from '../message-codec.ts';

interface FormattedCardReply {
  readonly kind: 'formatted-card';
  readonly reader: number;
  /** 0 forward, 1 backward. */
  readonly direction: number;
  readonly text: Uint8Array;
}

export const formattedCardReply: MessageCodec<FormattedCardReply> = {
  kind: 'formatted-card',
  code: 0x51,
  encode: ({ reader, direction, text }) =>
    Uint8Array.from([
      byte(reader, 'reader'),
      byte(direction, 'direction'),
      within(0xff, text.length, 'length of the text'),
      ...text,
    ]),
  decode: (data) => {
    const [reader = 0, direction = 0, length] = data;
    return length === undefined || data.length !== 3 + length
      ? wrongLength(0x51, data.length, '3 and the text')
      : { kind: 'formatted-card', reader, direction, text: data.slice(3) };
  },
};
