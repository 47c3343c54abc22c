/**
 * One frame as one line of plain text, for captures, logs and support.
 *
 * Guarantee: redacted. No key, cryptogram or random number, no card bits, no pressed keys, no text for a display, and
 * nothing of a payload this program cannot read; of these only how much there was.
 * Not promised: a form that programs can parse.
 */
import type { Frame } from './frame.ts';
import {
  type Command,
  type DecodedCommand,
  type DecodedReply,
  decodeCommand,
  decodeReply,
  type Reply,
} from './message.ts';
import { mnemonicOf } from './mnemonic.ts';
import { nakMeaning } from './reply/nak.ts';

/** The message of a frame whose data is in clear; `undefined` where it is encrypted. */
export function clearMessageOf(frame: Frame): DecodedCommand | DecodedReply | undefined {
  if (isEncrypted(frame)) return undefined;
  return frame.isReply ? decodeReply(frame.code, frame.data) : decodeCommand(frame.code, frame.data);
}

/**
 * For example `-> 05 #2 SCS_15 POLL` or `<- 05 #1 plain NAK: unknown command`.
 *
 * @param message of the frame, where the caller could decrypt it; otherwise what is in clear is read.
 */
export function describeFrame(
  frame: Frame,
  message: DecodedCommand | DecodedReply | undefined = clearMessageOf(frame),
): string {
  const arrow = frame.isReply ? '<-' : '->';
  const address = frame.address.toString(16).toUpperCase().padStart(2, '0');
  const channel = frame.security === undefined ? 'plain' : `SCS_${frame.security.type.toString(16)}`;
  const check = frame.check === 'checksum' ? ' checksum' : '';
  const details = message === undefined ? encryptedDetails(frame) : describeMessage(message, frame.isReply);
  const name = mnemonicOf(frame.code, frame.isReply);
  return `${arrow} ${address} #${frame.sequence} ${channel}${check} ${name}${details === '' ? '' : `: ${details}`}`;
}

function isEncrypted(frame: Frame): boolean {
  return (frame.security?.type === 0x17 || frame.security?.type === 0x18) && frame.data.length > 0;
}

function encryptedDetails(frame: Frame): string {
  return `${count(frame.data.length, 'byte')} encrypted`;
}

function describeMessage(message: DecodedCommand | DecodedReply, isReply: boolean): string {
  if (message.kind === 'unknown') return count(message.data.length, 'byte');
  if (message.kind === 'malformed') return `malformed, ${message.problem}`;
  const texts: Readonly<Record<string, unknown>> = isReply ? replyTexts : commandTexts;
  return (texts[message.kind] as (message: DecodedCommand | DecodedReply) => string)(message);
}

type Texts<Message extends { readonly kind: string }> = {
  readonly [Kind in Message['kind']]: (message: Extract<Message, { readonly kind: Kind }>) => string;
};

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
const payload = ({ payload: bytes }: { readonly payload: Uint8Array }): string => count(bytes.length, 'byte');
const vendorPayload = (message: { readonly vendor: string; readonly payload: Uint8Array }): string =>
  `vendor ${message.vendor}, ${payload(message)}`;
const fragment = (part: { readonly total: number; readonly offset: number; readonly fragment: Uint8Array }): string =>
  `${count(part.fragment.length, 'byte')} at ${part.offset} of ${part.total}`;
const seconds = (tenths: number): string => `${tenths / 10} s`;
const communication = ({ address, baud }: { readonly address: number; readonly baud: number }): string =>
  `address ${address}, ${baud} baud`;
const nothing = (): string => '';
const list = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(' '));

type LedRecord = Extract<Command, { readonly kind: 'led' }>['records'][number];
type LedPattern = Extract<LedRecord['permanent'], { readonly action: 'set' }>;

function ledRecord({ reader, led, temporary, permanent }: LedRecord): string {
  const pattern = (half: Omit<LedPattern, 'action'>): string =>
    half.offTenths === 0 || half.onColor === half.offColor
      ? half.onColor
      : `${half.onColor} ${seconds(half.onTenths)} ${half.offColor} ${seconds(half.offTenths)}`;
  const shows: string[] = [];
  if (temporary.action === 'cancel') shows.push('end the temporary');
  if (temporary.action === 'set') shows.push(`${pattern(temporary)} for ${seconds(temporary.timerTenths)}`);
  if (permanent.action === 'set') shows.push(`then ${pattern(permanent)}`);
  return `reader ${reader} led ${led} ${list(shows)}`;
}

const commandTexts: Texts<Command> = {
  poll: nothing,
  id: ({ form }) => (form === 0 ? '' : `form ${form}`),
  capabilities: ({ form }) => (form === 0 ? '' : `form ${form}`),
  'local-status': nothing,
  'input-status': nothing,
  'output-status': nothing,
  'reader-status': nothing,
  output: ({ records }) =>
    records.map((record) => `output ${record.output} ${record.action} ${seconds(record.timerTenths)}`).join(', '),
  led: ({ records }) => records.map(ledRecord).join(', '),
  buzzer: ({ reader, tone, onTenths, offTenths, count: times }) =>
    `reader ${reader} tone ${tone} ${seconds(onTenths)} on ${seconds(offTenths)} off × ${times}`,
  text: ({ reader, mode, row, column, text }) =>
    `reader ${reader} ${mode} row ${row} column ${column}, ${count(text.length, 'character')}`,
  'set-communication': communication,
  'read-biometric': ({ reader }) => `reader ${reader}`,
  'match-biometric': ({ reader, template }) => `reader ${reader}, ${count(template.length, 'byte')}`,
  'set-key': () => 'a key',
  challenge: nothing,
  'panel-cryptogram': nothing,
  'receive-size': ({ size }) => count(size, 'byte'),
  'file-transfer': (part) => `type ${part.fileType}, ${fragment(part)}`,
  manufacturer: vendorPayload,
  transparent: payload,
  abort: nothing,
  'piv-data': payload,
  'general-authenticate': fragment,
  'authenticate-challenge': fragment,
  'keep-active': ({ durationMs }) => `${durationMs} ms`,
};

const replyTexts: Texts<Reply> = {
  ack: nothing,
  nak: ({ reason }) => nakMeaning(reason),
  identity: ({ vendor, model, version, serial, firmware }) =>
    `vendor ${vendor} model ${model} version ${version} serial ${serial} firmware ${firmware.major}.${firmware.minor}.${firmware.build}`,
  capabilities: ({ capabilities }) =>
    list(capabilities.map((entry) => `${entry.function}:${entry.level}:${entry.count}`)),
  'local-status': ({ isTampered, hasPowerFailed }) =>
    `${isTampered ? 'tampered' : 'not tampered'}, power ${hasPowerFailed ? 'failed' : 'good'}`,
  'input-status': ({ inputs }) => list(inputs),
  'output-status': ({ outputs }) => list(outputs.map((isActive) => (isActive ? 'on' : 'off'))),
  'reader-status': ({ readers }) => list(readers),
  card: ({ reader, format, bitCount }) => `reader ${reader} format ${format}, ${count(bitCount, 'bit')}`,
  'formatted-card': ({ reader, text }) => `reader ${reader}, ${count(text.length, 'character')}`,
  keys: ({ reader, keys }) => `reader ${reader} ${'•'.repeat(keys.length)}`,
  communication,
  'biometric-read': ({ reader, status, template }) =>
    `reader ${reader} status ${status}, ${count(template.length, 'byte')}`,
  'biometric-match': ({ reader, status }) => `reader ${reader} status ${status}`,
  'extended-identity': payload,
  'challenge-answer': nothing,
  'initial-mac': nothing,
  busy: nothing,
  'file-status': ({ status, delayMs, longestMessage }) =>
    `status ${status}, wait ${delayMs} ms${longestMessage === 0 ? '' : `, at most ${longestMessage} bytes`}`,
  'piv-data': fragment,
  'general-authenticate': fragment,
  'authenticate-challenge': fragment,
  'manufacturer-status': payload,
  'manufacturer-error': payload,
  manufacturer: vendorPayload,
  transparent: payload,
};
