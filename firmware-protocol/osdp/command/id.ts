/** ID (61): asks who the peripheral is. */
import { byte, type MessageCodec, wrongLength } from '../message-codec.ts';

interface IdCommand {
  readonly kind: 'id';
  /** 0 = standard; 1 = extended, known to newer peripherals only. */
  readonly form: number;
}

export const idCommand: MessageCodec<IdCommand> = {
  kind: 'id',
  code: 0x61,
  encode: ({ form }) => Uint8Array.of(byte(form, 'form')),
  decode: (data) => {
    const [form] = data;
    return form === undefined || data.length !== 1 ? wrongLength(0x61, data.length, '1') : { kind: 'id', form };
  },
};
