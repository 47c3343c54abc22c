/** RMAC_I (78): the first MAC of the chain; with it the secure session stands. Whether it was accepted stands in the security block. */
import { type MessageCodec, sized, wrongLength } from '../message-codec.ts';

interface InitialMacReply {
  readonly kind: 'initial-mac';
  /** 16 bytes. */
  readonly mac: Uint8Array;
}

export const initialMacReply: MessageCodec<InitialMacReply> = {
  kind: 'initial-mac',
  code: 0x78,
  encode: ({ mac }) => sized(16, mac, 'R-MAC-I'),
  decode: (data) =>
    data.length === 16 ? { kind: 'initial-mac', mac: data.slice() } : wrongLength(0x78, data.length, '16'),
};
