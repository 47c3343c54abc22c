/** CHLNG (76): the panel's random number, which begins a secure session. Which key is meant stands in the security block. */
import { type MessageCodec, sized, wrongLength } from '../message-codec.ts';

interface ChallengeCommand {
  readonly kind: 'challenge';
  /** RND.A, 8 bytes. */
  readonly random: Uint8Array;
}

export const challengeCommand: MessageCodec<ChallengeCommand> = {
  kind: 'challenge',
  code: 0x76,
  encode: ({ random }) => sized(8, random, 'RND.A'),
  decode: (data) =>
    data.length === 8 ? { kind: 'challenge', random: data.slice() } : wrongLength(0x76, data.length, '8'),
};
