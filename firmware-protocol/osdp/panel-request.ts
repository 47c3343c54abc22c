/**
 * The next command of a session that has none on the line.
 */

import { longestFrame, type SecurityBlock } from './frame.ts';
import { encodeCommand, type MessageBytes } from './message.ts';
import { keySelect } from './panel-handshake.ts';
import type { Question } from './panel-port.ts';
import type { PanelState, QueuedCommand, Stage } from './panel-state.ts';

export interface Request {
  readonly message: MessageBytes;
  /** The security block of a handshake message. */
  readonly handshake: SecurityBlock | undefined;
  readonly command: QueuedCommand | undefined;
  readonly role: 'first' | 'probe';
}

const plain = (message: MessageBytes, role: Request['role'] = 'first'): Request => ({
  message,
  handshake: undefined,
  command: undefined,
  role,
});

const poll = (): MessageBytes => encodeCommand({ kind: 'poll' });

function inquiry(kind: Question): MessageBytes {
  if (kind === 'identity') return encodeCommand({ kind: 'id', form: 0 });
  if (kind === 'receive-size') return encodeCommand({ kind, size: longestFrame });
  return kind === 'capabilities' ? encodeCommand({ kind, form: 0 }) : encodeCommand({ kind });
}

/** @param nonce RND.A of a handshake, 8 fresh random bytes. */
export function nextRequest(state: PanelState, nonce: Uint8Array): Request {
  const { stage } = state;
  switch (stage.kind) {
    case 'probe':
      return plain(stage.using === 'id' ? inquiry('identity') : poll(), 'probe');
    case 'identify':
      return plain(inquiry('identity'));
    case 'capabilities':
      return plain(inquiry('capabilities'));
    case 'challenge':
      return handshake(0x11, encodeCommand({ kind: 'challenge', random: nonce }), stage);
    case 'prove':
      return handshake(0x13, encodeCommand({ kind: 'panel-cryptogram', cryptogram: stage.cryptogram }), stage);
    case 'set-key':
      return setKey(state);
    case 'inquire':
      return plain(stage.rest[0] === undefined ? poll() : inquiry(stage.rest[0]));
    case 'up':
      return whenOnline(state, stage);
  }
}

function handshake(
  type: number,
  message: MessageBytes,
  stage: Extract<Stage, { kind: 'challenge' | 'prove' }>,
): Request {
  const security = { type, data: Uint8Array.of(keySelect(stage.attempt)) };
  return { message, handshake: security, command: undefined, role: 'first' };
}

function setKey(state: PanelState): Request {
  const { candidate } = state.keys;
  return plain(candidate === undefined ? poll() : encodeCommand({ kind: 'set-key', key: candidate }));
}

function whenOnline(state: PanelState, stage: Extract<Stage, { kind: 'up' }>): Request {
  const [command] = state.queue;
  if (command !== undefined) return { ...plain({ code: command.code, data: command.data }), command };
  return plain(stage.rest[0] === undefined ? poll() : inquiry(stage.rest[0]));
}
