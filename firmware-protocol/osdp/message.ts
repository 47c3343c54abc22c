/**
 * Commands and replies as values, and the two tables that lead from a code to its file.
 *
 * Guarantee: every code of the standard's lists is here; what is not is `unknown` with its data; what breaks its own
 * rules is `malformed` and says how. The same code means different things by direction, so there are two of everything.
 */
import { abortCommand } from './command/abort.ts';
import { authenticateChallengeCommand } from './command/authenticate-challenge.ts';
import { buzzerCommand } from './command/buzzer.ts';
import { capabilitiesCommand } from './command/capabilities.ts';
import { challengeCommand } from './command/challenge.ts';
import { fileTransferCommand } from './command/file-transfer.ts';
import { generalAuthenticateCommand } from './command/general-authenticate.ts';
import { idCommand } from './command/id.ts';
import { inputStatusCommand } from './command/input-status.ts';
import { keepActiveCommand } from './command/keep-active.ts';
import { ledCommand } from './command/led.ts';
import { localStatusCommand } from './command/local-status.ts';
import { manufacturerCommand } from './command/manufacturer.ts';
import { matchBiometricCommand } from './command/match-biometric.ts';
import { outputCommand } from './command/output.ts';
import { outputStatusCommand } from './command/output-status.ts';
import { panelCryptogramCommand } from './command/panel-cryptogram.ts';
import { pivDataCommand } from './command/piv-data.ts';
import { pollCommand } from './command/poll.ts';
import { readBiometricCommand } from './command/read-biometric.ts';
import { readerStatusCommand } from './command/reader-status.ts';
import { receiveSizeCommand } from './command/receive-size.ts';
import { setCommunicationCommand } from './command/set-communication.ts';
import { setKeyCommand } from './command/set-key.ts';
import { textCommand } from './command/text.ts';
import { transparentCommand } from './command/transparent.ts';
import type { Malformed, MessageCodec, UnknownMessage } from './message-codec.ts';
import { ackReply } from './reply/ack.ts';
import { authenticateChallengeReply } from './reply/authenticate-challenge.ts';
import { biometricMatchReply } from './reply/biometric-match.ts';
import { biometricReadReply } from './reply/biometric-read.ts';
import { busyReply } from './reply/busy.ts';
import { capabilitiesReply } from './reply/capabilities.ts';
import { cardReply } from './reply/card.ts';
import { challengeAnswerReply } from './reply/challenge-answer.ts';
import { communicationReply } from './reply/communication.ts';
import { extendedIdentityReply } from './reply/extended-identity.ts';
import { fileStatusReply } from './reply/file-status.ts';
import { formattedCardReply } from './reply/formatted-card.ts';
import { generalAuthenticateReply } from './reply/general-authenticate.ts';
import { identityReply } from './reply/identity.ts';
import { initialMacReply } from './reply/initial-mac.ts';
import { inputStatusReply } from './reply/input-status.ts';
import { keysReply } from './reply/keys.ts';
import { localStatusReply } from './reply/local-status.ts';
import { manufacturerReply } from './reply/manufacturer.ts';
import { manufacturerErrorReply } from './reply/manufacturer-error.ts';
import { manufacturerStatusReply } from './reply/manufacturer-status.ts';
import { nakReply } from './reply/nak.ts';
import { outputStatusReply } from './reply/output-status.ts';
import { pivDataReply } from './reply/piv-data.ts';
import { readerStatusReply } from './reply/reader-status.ts';
import { transparentReply } from './reply/transparent.ts';

const commandCodecs = [
  pollCommand,
  idCommand,
  capabilitiesCommand,
  localStatusCommand,
  inputStatusCommand,
  outputStatusCommand,
  readerStatusCommand,
  outputCommand,
  ledCommand,
  buzzerCommand,
  textCommand,
  setCommunicationCommand,
  readBiometricCommand,
  matchBiometricCommand,
  setKeyCommand,
  challengeCommand,
  panelCryptogramCommand,
  receiveSizeCommand,
  fileTransferCommand,
  manufacturerCommand,
  transparentCommand,
  abortCommand,
  pivDataCommand,
  generalAuthenticateCommand,
  authenticateChallengeCommand,
  keepActiveCommand,
] as const;

const replyCodecs = [
  ackReply,
  nakReply,
  identityReply,
  capabilitiesReply,
  localStatusReply,
  inputStatusReply,
  outputStatusReply,
  readerStatusReply,
  cardReply,
  formattedCardReply,
  keysReply,
  communicationReply,
  biometricReadReply,
  biometricMatchReply,
  extendedIdentityReply,
  challengeAnswerReply,
  initialMacReply,
  busyReply,
  fileStatusReply,
  pivDataReply,
  generalAuthenticateReply,
  authenticateChallengeReply,
  manufacturerStatusReply,
  manufacturerErrorReply,
  manufacturerReply,
  transparentReply,
] as const;

type MessageOf<Codec> = Codec extends MessageCodec<infer Message> ? Message : never;

/** What a panel says. */
export type Command = MessageOf<(typeof commandCodecs)[number]>;
/** What a peripheral says. */
export type Reply = MessageOf<(typeof replyCodecs)[number]>;
export type DecodedCommand = Command | UnknownMessage | Malformed;
export type DecodedReply = Reply | UnknownMessage | Malformed;

/** Code and data as they stand in a frame, before encryption. */
export interface MessageBytes {
  readonly code: number;
  readonly data: Uint8Array;
}

interface Table<Message extends { readonly kind: string }> {
  readonly byKind: ReadonlyMap<string, MessageCodec<Message>>;
  readonly byCode: ReadonlyMap<number, MessageCodec<Message>>;
}

// A codec is only ever given the message of its own kind, which the type of one table cannot say.
function tableOf<Message extends { readonly kind: string }>(codecs: readonly unknown[]): Table<Message> {
  const list = codecs as readonly MessageCodec<Message>[];
  return {
    byKind: new Map(list.map((codec) => [codec.kind, codec])),
    byCode: new Map(list.map((codec) => [codec.code, codec])),
  };
}

const commands = tableOf<Command>(commandCodecs);
const replies = tableOf<Reply>(replyCodecs);

/** @throws RangeError if a field does not fit the wire. */
export function encodeCommand(command: Command): MessageBytes {
  return encode(commands, command);
}

/** @param data in clear. Never throws. */
export function decodeCommand(code: number, data: Uint8Array): DecodedCommand {
  return decode(commands, code, data);
}

/** @throws RangeError if a field does not fit the wire. */
export function encodeReply(reply: Reply): MessageBytes {
  return encode(replies, reply);
}

/** @param data in clear. Never throws. */
export function decodeReply(code: number, data: Uint8Array): DecodedReply {
  return decode(replies, code, data);
}

function encode<Message extends { readonly kind: string }>(table: Table<Message>, message: Message): MessageBytes {
  const codec = table.byKind.get(message.kind);
  if (codec === undefined) throw new RangeError(`no message is called ${message.kind}`);
  return { code: codec.code, data: codec.encode(message) };
}

function decode<Message extends { readonly kind: string }>(
  table: Table<Message>,
  code: number,
  data: Uint8Array,
): Message | UnknownMessage | Malformed {
  return table.byCode.get(code)?.decode(data) ?? { kind: 'unknown', code, data };
}
