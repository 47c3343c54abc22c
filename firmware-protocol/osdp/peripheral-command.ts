/**
 * What a reader does when told, and what it answers: the commands outside the handshake.
 *
 * Guarantee: a command that breaks the rules or asks for what the reader does not have changes nothing and gets a NAK.
 */
import { receiveFragment } from './file-transfer.ts';
import { type Command, type DecodedCommand, decodeCommand, type Reply } from './message.ts';
import type { PeripheralEffect } from './peripheral-port.ts';
import { countOf, type PeripheralState } from './peripheral-state.ts';
import { capabilityFunction } from './reply/capabilities.ts';
import { nakReason } from './reply/nak.ts';
import { isUsableKey } from './secure-channel.ts';

/** The answer, and the state and effects behind it. */
export interface Execution {
  readonly reply: Reply;
  readonly state: PeripheralState;
  readonly effects: readonly PeripheralEffect[];
}

type CommandOf<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;

const answer = (state: PeripheralState, reply: Reply, ...effects: PeripheralEffect[]): Execution => ({
  reply,
  state,
  effects,
});

const acknowledge = (state: PeripheralState, ...effects: PeripheralEffect[]): Execution =>
  answer(state, { kind: 'ack' }, ...effects);

export function refuse(state: PeripheralState, reason: number): Execution {
  const reply: Reply = { kind: 'nak', reason, details: new Uint8Array(0) };
  return answer(state, reply, { kind: 'refused', nak: reason });
}

/** @param data in clear. */
export function execute(state: PeripheralState, at: number, code: number, data: Uint8Array): Execution {
  const command = decodeCommand(code, data);
  if (command.kind === 'malformed') {
    return refuse(state, command.fault === 'length' ? nakReason.badLength : nakReason.cannotProcess);
  }
  return answerQuestion(state, at, command) ?? obey(state, at, command);
}

function answerQuestion(state: PeripheralState, at: number, command: DecodedCommand): Execution | undefined {
  const { status, config } = state;
  switch (command.kind) {
    case 'poll':
      return tellEvent(state);
    case 'id':
      return answer(state, config.identity);
    case 'capabilities':
      return answer(state, { kind: 'capabilities', capabilities: config.capabilities });
    case 'local-status':
      return answer(state, status.local);
    case 'input-status':
      return answer(state, status.inputs);
    case 'output-status':
      return answer(state, { kind: 'output-status', outputs: status.outputsUntil.map((until) => until > at) });
    case 'reader-status':
      return answer(state, status.readers);
    default:
      return undefined;
  }
}

function tellEvent(state: PeripheralState): Execution {
  const [event, ...events] = state.events;
  return event === undefined ? acknowledge(state) : answer({ ...state, events }, event);
}

function obey(state: PeripheralState, at: number, command: DecodedCommand): Execution {
  const can = (number: number): boolean => state.config.capabilities.some((entry) => entry.function === number);
  const withCapability = (number: number, effect: PeripheralEffect): Execution =>
    can(number) ? acknowledge(state, effect) : refuse(state, nakReason.unknownCommand);
  switch (command.kind) {
    case 'output':
      return setOutputs(state, at, command);
    case 'led':
      return command.records.every(({ led }) => led < countOf(state.config, capabilityFunction.leds))
        ? acknowledge(state, command)
        : refuse(state, nakReason.unknownCommand);
    case 'buzzer':
      return withCapability(capabilityFunction.buzzer, command);
    case 'text':
      return withCapability(capabilityFunction.text, command);
    case 'set-communication':
      return setCommunication(state, command);
    case 'set-key':
      return setKey(state, command);
    case 'file-transfer':
      return takeFile(state, command);
    case 'manufacturer':
    case 'receive-size':
    case 'keep-active':
    case 'abort':
      return acknowledge(state);
    default:
      return refuse(state, nakReason.unknownCommand);
  }
}

function setOutputs(state: PeripheralState, at: number, command: CommandOf<'output'>): Execution {
  const { outputsUntil } = state.status;
  if (outputsUntil.length === 0) return refuse(state, nakReason.unknownCommand);
  if (command.records.some(({ output }) => output >= outputsUntil.length))
    return refuse(state, nakReason.cannotProcess);
  const next = [...outputsUntil];
  const effects: PeripheralEffect[] = [];
  for (const { output, action, timerTenths } of command.records) {
    const timerMs = timerTenths * 100;
    next[output] = outputUntil(next[output] ?? 0, action, at + timerMs);
    effects.push({ kind: 'output', output, action, timerMs });
  }
  return acknowledge({ ...state, status: { ...state.status, outputsUntil: next } }, ...effects);
}

/** What OSTATR says afterwards; the reader's own hardware runs the timers. */
function outputUntil(before: number, action: CommandOf<'output'>['records'][number]['action'], end: number): number {
  if (action === 'nothing') return before;
  if (action === 'on-for-timer') return end;
  return action === 'on' || action === 'on-after-timer' ? Number.POSITIVE_INFINITY : 0;
}

function setCommunication(state: PeripheralState, command: CommandOf<'set-communication'>): Execution {
  if (!state.config.allowsCommunication) return refuse(state, nakReason.unknownCommand);
  const { address, baud } = command;
  return answer(
    { ...state, address },
    { kind: 'communication', address, baud },
    { kind: 'communication', address, baud },
  );
}

/** Only in a session; the public one gives way to the first key. The session ends with the answer. */
function setKey(state: PeripheralState, command: CommandOf<'set-key'>): Execution {
  const { channel } = state;
  if (channel === undefined) return refuse(state, nakReason.securityUnsupported);
  if (channel.isPublic && !state.isInstallMode) return refuse(state, nakReason.securityRequired);
  if (state.config.acceptsKeys === false || !isUsableKey(command.key)) return refuse(state, nakReason.cannotProcess);
  const keyed = { ...state, key: command.key, isInstallMode: false };
  return acknowledge(keyed, { kind: 'key-set', key: command.key });
}

function takeFile(state: PeripheralState, command: CommandOf<'file-transfer'>): Execution {
  const longest = state.config.longestFile ?? 0;
  if (longest === 0) return refuse(state, nakReason.unknownCommand);
  const { receiving, reply, file } = receiveFragment(state.file, command, longest);
  const effects: PeripheralEffect[] =
    file === undefined ? [] : [{ kind: 'file', fileType: file.fileType, bytes: file.bytes }];
  return answer({ ...state, file: receiving }, reply, ...effects);
}
