/**
 * What a frame means for the command on the line.
 *
 * Guarantee: sequence and chain advance only with an answer that is ours, in sequence and, in a session, authentic.
 * Nothing unauthentic becomes an answer of a session except the two plain replies that change nothing (BUSY, NAK 1)
 * and the ACK to a key, which some readers give in plain and which only a handshake with that key makes true.
 * Not promised: that an answer in plain comes from the reader.
 */
import { challengeCommand } from './command/challenge.ts';
import { panelCryptogramCommand } from './command/panel-cryptogram.ts';
import { setKeyCommand } from './command/set-key.ts';
import { type Frame, macLength, type SecurityBlock } from './frame.ts';
import { type Exchange, nextSequence, type PanelChannel, type PanelLink } from './panel-exchange.ts';
import { ackReply } from './reply/ack.ts';
import { busyReply } from './reply/busy.ts';
import { inputStatusReply } from './reply/input-status.ts';
import { localStatusReply } from './reply/local-status.ts';
import { nakReason, nakReply } from './reply/nak.ts';
import { outputStatusReply } from './reply/output-status.ts';
import { readerStatusReply } from './reply/reader-status.ts';
import { decryptData, isSameSecret, messageMac } from './secure-channel.ts';

export type Verdict =
  | {
      readonly kind: 'answer';
      readonly code: number;
      /** In clear. */
      readonly data: Uint8Array;
      readonly security: SecurityBlock | undefined;
      /** With sequence and chain advanced. */
      readonly link: PanelLink;
    }
  /** Not an answer to this command: noise, another address, a late copy. */
  | { readonly kind: 'miss' }
  /** Ask the same again later; not part of sequence or chain. */
  | { readonly kind: 'busy' }
  /** The peripheral got the command damaged. */
  | { readonly kind: 'bad-check' }
  /** It lost the conversation, or says so. */
  | { readonly kind: 'restart-wanted' }
  /** It says, in plain, that there is no session. */
  | { readonly kind: 'session-refused' }
  | { readonly kind: 'forged'; readonly detail: 'mac' | 'replay' | 'padding' }
  /** Something in plain that only the session may carry. */
  | { readonly kind: 'unprotected' }
  /** Authentic, but not in a form the standard knows. */
  | { readonly kind: 'malformed' };

/** An answer that counts. */
export type Answer = Extract<Verdict, { kind: 'answer' }>;

const miss: Verdict = { kind: 'miss' };
const copiesLimit = 4;

/** Judges a frame with a good check. @param transmissions how often the command was sent so far. */
export function judgeReply(link: PanelLink, exchange: Exchange, transmissions: number, frame: Frame): Verdict {
  if (!frame.isReply || frame.address !== link.address || isLateCopy(link, exchange, frame)) return miss;
  const exception = frame.sequence === exchange.sequence ? judgePlainRefusal(link, frame) : judgeOther(link, frame);
  if (exception !== undefined) return exception;
  const advanced: PanelLink = {
    ...link,
    sequence: nextSequence(exchange.sequence),
    repeated: transmissions > 1 ? [frame.bytes, ...link.repeated].slice(0, copiesLimit) : link.repeated,
  };
  const { channel } = advanced;
  return channel === undefined
    ? judgePlain(advanced, exchange, frame)
    : judgeSecured({ ...advanced, channel }, exchange, frame);
}

/**
 * Whether it is a second copy of an answer that was taken already. In a session no two answers are alike, so it proves
 * nothing and hides nothing; in plain, answers are alike, and only another sequence tells the copy.
 */
function isLateCopy(link: PanelLink, exchange: Exchange, frame: Frame): boolean {
  if (link.channel === undefined && frame.sequence === exchange.sequence) return false;
  return link.repeated.some((bytes) => isSameSecret(bytes, frame.bytes));
}

const isPlain = (frame: Frame, code: number): boolean => frame.security === undefined && frame.code === code;

/** A frame with another sequence number than the command's. */
function judgeOther(link: PanelLink, frame: Frame): Verdict {
  if (frame.sequence === 0) return isPlain(frame, busyReply.code) ? { kind: 'busy' } : { kind: 'restart-wanted' };
  return link.channel === undefined ? miss : { kind: 'forged', detail: 'replay' };
}

/** @returns what a plain BUSY or NAK means by itself, or `undefined` where the frame is an answer like others. */
function judgePlainRefusal(link: PanelLink, frame: Frame): Verdict | undefined {
  if (isPlain(frame, busyReply.code)) return { kind: 'busy' };
  if (!isPlain(frame, nakReply.code)) return undefined;
  const [reason] = frame.data;
  if (reason === nakReason.badCheck) return { kind: 'bad-check' };
  if (reason === nakReason.badSequence) return { kind: 'restart-wanted' };
  const deniesSession = reason === nakReason.securityUnsupported || reason === nakReason.securityRequired;
  return link.channel !== undefined && deniesSession ? { kind: 'session-refused' } : undefined;
}

/** Outside a session only a handshake is answered under a security block. */
function judgePlain(advanced: PanelLink, exchange: Exchange, frame: Frame): Verdict {
  const isHandshake = exchange.code === challengeCommand.code || exchange.code === panelCryptogramCommand.code;
  if (frame.security !== undefined && !isHandshake) return miss;
  return { kind: 'answer', code: frame.code, data: frame.data, security: frame.security, link: advanced };
}

type Secured = PanelLink & { readonly channel: PanelChannel };

function judgeSecured(advanced: Secured, exchange: Exchange, frame: Frame): Verdict {
  const { security, code, data } = frame;
  if (security === undefined && exchange.code === setKeyCommand.code && code === ackReply.code) {
    return { kind: 'answer', code, data, security, link: advanced };
  }
  if (frame.mac === undefined || exchange.commandMac === undefined) return { kind: 'unprotected' };
  const covered = frame.bytes.subarray(0, -(macLength + (frame.check === 'crc' ? 2 : 1)));
  const lastReplyMac = messageMac(advanced.channel.keys, exchange.commandMac, covered);
  if (!isSameSecret(lastReplyMac.subarray(0, macLength), frame.mac)) return { kind: 'forged', detail: 'mac' };
  const link: PanelLink = { ...advanced, channel: { ...advanced.channel, lastReplyMac } };
  if (security?.type === 0x18 && data.length > 0) {
    const clear = decryptData(advanced.channel.keys, exchange.commandMac, data);
    if (clear === undefined) return { kind: 'forged', detail: 'padding' };
    return { kind: 'answer', code, data: clear, security, link };
  }
  return isReadableForm(frame) ? { kind: 'answer', code, data, security, link } : { kind: 'malformed' };
}

/** Replies that some readers send authenticated but not encrypted. */
const mayBeReadable: readonly number[] = [
  nakReply.code,
  localStatusReply.code,
  inputStatusReply.code,
  outputStatusReply.code,
  readerStatusReply.code,
];

function isReadableForm(frame: Frame): boolean {
  if (frame.security?.type === 0x17) return false;
  return frame.data.length === 0 || mayBeReadable.includes(frame.code);
}
