/**
 * Files to a reader, from both ends: fragments that fit its buffer, delays it asks for, and how it ends.
 *
 * Guarantees: a frame never exceeds what the reader takes; leaving the secure channel is refused unless an operator
 * allowed it; every transfer ends, since a reader may be "finishing" only so often.
 * Not promised: that the line stays alive during a delay; whoever sends keeps polling.
 */
import { longestFrame } from './frame.ts';
import type { Command } from './message.ts';
import type { FileStatusReply } from './reply/file-status.ts';

type FileTransfer = Extract<Command, { readonly kind: 'file-transfer' }>;

/** Bytes of FILETRANSFER data before the fragment. */
const headLength = 11;

/**
 * The largest fragment whose whole frame fits, bytes; 0 if none does.
 * In a session data travels in blocks of 16 of which at least one byte is padding.
 * @param longest the reader's receive buffer, SOM to check.
 */
export function fragmentRoom(longest: number, isSecured: boolean): number {
  const frame = Math.min(longest, longestFrame);
  const data = isSecured ? Math.floor((frame - 5 - 2 - 1 - 4 - 2) / 16) * 16 - 1 : frame - 5 - 1 - 2;
  return Math.max(0, data - headLength);
}

export type FileProblem =
  /** By the reader: −1 aborted, −2 not recognised, −3 malformed, or another negative number. */
  | { readonly kind: 'refused'; readonly status: number }
  /** It wants the file in plain, which nobody allowed. */
  | { readonly kind: 'plain-wanted' }
  /** Not even one byte fits its buffer. */
  | { readonly kind: 'no-room' }
  | { readonly kind: 'never-finishes' };

export interface FileSending {
  readonly fileType: number;
  readonly bytes: Uint8Array;
  /** Bytes the reader has acknowledged. */
  readonly offset: number;
  readonly longest: number;
  readonly isSecured: boolean;
  readonly isPlainAllowed: boolean;
  /** No fragment before this time. */
  readonly notBefore: number;
  readonly finishingAnswers: number;
  readonly end:
    | { readonly kind: 'done'; readonly isRestarting: boolean }
    | { readonly kind: 'failed'; readonly problem: FileProblem }
    | undefined;
}

/** How often a reader may say that it is still finishing. */
const finishingLimit = 300;

export function startSending(
  file: Pick<FileSending, 'fileType' | 'bytes'>,
  reader: Pick<FileSending, 'longest' | 'isSecured' | 'isPlainAllowed'>,
): FileSending {
  const hasRoom = fragmentRoom(reader.longest, reader.isSecured) > 0;
  const end: FileSending['end'] = hasRoom ? undefined : { kind: 'failed', problem: { kind: 'no-room' } };
  return { ...file, ...reader, offset: 0, notBefore: Number.NEGATIVE_INFINITY, finishingAnswers: 0, end };
}

/** The next fragment, the time before which none may be sent, or `undefined` when the transfer has ended. */
export function nextFragment(
  sending: FileSending,
  at: number,
):
  | { readonly kind: 'send'; readonly command: FileTransfer }
  | { readonly kind: 'wait'; readonly until: number }
  | undefined {
  if (sending.end !== undefined) return undefined;
  if (at < sending.notBefore) return { kind: 'wait', until: sending.notBefore };
  const { fileType, bytes, offset } = sending;
  const fragment = bytes.slice(offset, offset + fragmentRoom(sending.longest, sending.isSecured));
  return { kind: 'send', command: { kind: 'file-transfer', fileType, total: bytes.length, offset, fragment } };
}

/** What the reader said to the fragment that was sent last. @param sent bytes of that fragment. */
export function takeFileStatus(sending: FileSending, at: number, sent: number, reply: FileStatusReply): FileSending {
  const fail = (problem: FileProblem): FileSending => ({ ...sending, end: { kind: 'failed', problem } });
  if (sending.end !== undefined) return sending;
  if (reply.status < 0) return fail({ kind: 'refused', status: reply.status });
  if (reply.wantsPlain && sending.isSecured && !sending.isPlainAllowed) return fail({ kind: 'plain-wanted' });
  const offset = Math.min(sending.bytes.length, sending.offset + sent);
  const longest = reply.longestMessage === 0 ? sending.longest : reply.longestMessage;
  const next: FileSending = { ...sending, offset, longest, notBefore: at + reply.delayMs };
  if (reply.status === 1 || reply.status === 2) {
    return { ...next, end: { kind: 'done', isRestarting: reply.status === 2 } };
  }
  if (fragmentRoom(longest, sending.isSecured) === 0) return fail({ kind: 'no-room' });
  const isFinishing = reply.status === 3 || offset === sending.bytes.length;
  const finishingAnswers = sending.finishingAnswers + Number(isFinishing);
  return finishingAnswers > finishingLimit ? fail({ kind: 'never-finishes' }) : { ...next, finishingAnswers };
}

/** What a reader has of a file. */
export interface FileReceiving {
  readonly fileType: number;
  readonly total: number;
  readonly bytes: Uint8Array;
}

export const noFile: FileReceiving = { fileType: 0, total: 0, bytes: new Uint8Array(0) };

const malformed = -3;
const notRecognised = -2;

/** One fragment at the reader's end. @param longest bytes it takes; a longer file is not recognised. */
export function receiveFragment(
  receiving: FileReceiving,
  command: FileTransfer,
  longest: number,
): { readonly receiving: FileReceiving; readonly reply: FileStatusReply; readonly file: FileReceiving | undefined } {
  const { fileType, total, offset, fragment } = command;
  const answer = (status: number): FileStatusReply => ({
    kind: 'file-status',
    allowsOtherCommands: true,
    wantsPlain: false,
    hasEvent: false,
    delayMs: 0,
    status,
    longestMessage: 0,
  });
  const refuse = (status: number) => ({ receiving: noFile, reply: answer(status), file: undefined });
  if (total > longest || total === 0) return refuse(notRecognised);
  const before = offset === 0 ? { fileType, total, bytes: new Uint8Array(0) } : receiving;
  const isNext = before.fileType === fileType && before.total === total && before.bytes.length === offset;
  if (!isNext || fragment.length === 0) return refuse(malformed);
  const file = { fileType, total, bytes: new Uint8Array([...before.bytes, ...fragment]) };
  const isWhole = file.bytes.length === total;
  return { receiving: isWhole ? noFile : file, reply: answer(isWhole ? 1 : 0), file: isWhole ? file : undefined };
}
