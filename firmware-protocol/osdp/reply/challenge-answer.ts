/** CCRYPT (76): the peripheral's random number and its proof that it holds the key. Which key stands in the security block. */
import { type MessageCodec, sized, wrongLength } from '../message-codec.ts';

interface ChallengeAnswerReply {
  readonly kind: 'challenge-answer';
  /** cUID, 8 bytes: what the peripheral calls itself; not proven by anything. */
  readonly uid: Uint8Array;
  /** RND.B, 8 bytes. */
  readonly random: Uint8Array;
  /** 16 bytes. */
  readonly cryptogram: Uint8Array;
}

export const challengeAnswerReply: MessageCodec<ChallengeAnswerReply> = {
  kind: 'challenge-answer',
  code: 0x76,
  encode: ({ uid, random, cryptogram }) =>
    Uint8Array.from([...sized(8, uid, 'cUID'), ...sized(8, random, 'RND.B'), ...sized(16, cryptogram, 'cryptogram')]),
  decode: (data) =>
    data.length === 32
      ? {
          kind: 'challenge-answer',
          uid: data.slice(0, 8),
          random: data.slice(8, 16),
          cryptogram: data.slice(16),
        }
      : wrongLength(0x76, data.length, '32'),
};
