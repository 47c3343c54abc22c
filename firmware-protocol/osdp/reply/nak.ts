/** NAK (41): the command was not carried out, with a number that says why and sometimes details. */
import { byte, type MessageCodec, wrongLength } from '../message-codec.ts';

interface NakReply {
  readonly kind: 'nak';
  /** See `nakMeaning`; numbers outside the list occur. */
  readonly reason: number;
  readonly details: Uint8Array;
}

/** Numbers this program gives or acts on. */
export const nakReason = {
  badCheck: 1,
  badLength: 2,
  unknownCommand: 3,
  badSequence: 4,
  securityUnsupported: 5,
  securityRequired: 6,
  biometricType: 7,
  biometricFormat: 8,
  cannotProcess: 9,
} as const;

const meanings = [
  'no error',
  'bad check',
  'bad length',
  'unknown command',
  'unexpected sequence number',
  'security block not supported',
  'security required',
  'biometric type not supported',
  'biometric format not supported',
  'cannot process the record',
] as const;

/** What a NAK's number means, in words. */
export function nakMeaning(reason: number): string {
  return meanings[reason] ?? `reason ${reason}`;
}

export const nakReply: MessageCodec<NakReply> = {
  kind: 'nak',
  code: 0x41,
  encode: ({ reason, details }) => Uint8Array.from([byte(reason, 'reason'), ...details]),
  decode: (data) => {
    const [reason] = data;
    return reason === undefined ? wrongLength(0x41, 0, 'at least 1') : { kind: 'nak', reason, details: data.slice(1) };
  },
};
