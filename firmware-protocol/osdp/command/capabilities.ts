/** CAP (62): asks what the peripheral can do. */
import { byte, type MessageCodec, wrongLength } from '../message-codec.ts';

interface CapabilitiesCommand {
  readonly kind: 'capabilities';
  /** 0 = standard; nothing else is defined. */
  readonly form: number;
}

export const capabilitiesCommand: MessageCodec<CapabilitiesCommand> = {
  kind: 'capabilities',
  code: 0x62,
  encode: ({ form }) => Uint8Array.of(byte(form, 'form')),
  decode: (data) => {
    const [form] = data;
    return form === undefined || data.length !== 1
      ? wrongLength(0x62, data.length, '1')
      : { kind: 'capabilities', form };
  },
};
