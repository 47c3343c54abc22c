/** SCRYPT (77): the panel's proof that it holds the key. */
import { type MessageCodec, sized, wrongLength } from '../message-codec.ts';

interface PanelCryptogramCommand {
  readonly kind: 'panel-cryptogram';
  /** 16 bytes. */
  readonly cryptogram: Uint8Array;
}

export const panelCryptogramCommand: MessageCodec<PanelCryptogramCommand> = {
  kind: 'panel-cryptogram',
  code: 0x77,
  encode: ({ cryptogram }) => sized(16, cryptogram, 'cryptogram'),
  decode: (data) =>
    data.length === 16 ? { kind: 'panel-cryptogram', cryptogram: data.slice() } : wrongLength(0x77, data.length, '16'),
};
