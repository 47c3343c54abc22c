/**
 * The reader's half of the secure channel: its proof, the panel's proof, and what a secured command says.
 *
 * Guarantee: it answers for the key that was asked for or not at all; without a key of its own it has none to show.
 */

import { challengeCommand } from './command/challenge.ts';
import { panelCryptogramCommand } from './command/panel-cryptogram.ts';
import type { Frame, SecurityBlock } from './frame.ts';
import { macLength } from './frame.ts';
import { type Execution, refuse } from './peripheral-command.ts';
import type { PeripheralState } from './peripheral-state.ts';
import { identityReply } from './reply/identity.ts';
import { nakReason } from './reply/nak.ts';
import {
  decryptData,
  defaultKey,
  deriveSessionKeys,
  initialReplyMac,
  isSameSecret,
  isUsableKey,
  messageMac,
  panelCryptogram,
  peripheralCryptogram,
} from './secure-channel.ts';

export type HandshakeAnswer = Execution & { readonly security?: SecurityBlock };

function keyFor(state: PeripheralState, select: number | undefined): Uint8Array | undefined {
  if (select === 0) return state.isInstallMode ? defaultKey : undefined;
  return select === 1 && state.key !== undefined && isUsableKey(state.key) ? state.key : undefined;
}

/** CHLNG → CCRYPT. @param random RND.B, 8 bytes. */
export function answerChallenge(before: PeripheralState, frame: Frame, random: Uint8Array): HandshakeAnswer {
  const state: PeripheralState = { ...before, channel: undefined, handshake: undefined };
  const select = frame.security?.data[0];
  const key = keyFor(state, select);
  const command = frame.code === challengeCommand.code ? challengeCommand.decode(frame.data) : undefined;
  if (command?.kind !== 'challenge') return refuse(state, nakReason.securityUnsupported);
  if (key === undefined || select === undefined) return refuse(state, nakReason.securityUnsupported);
  const keys = deriveSessionKeys(key, command.random);
  const cryptogram = panelCryptogram(keys, command.random, random);
  return {
    state: { ...state, handshake: { keys, cryptogram, select } },
    reply: {
      kind: 'challenge-answer',
      uid: state.config.uid ?? identityReply.encode(state.config.identity).slice(0, 8),
      random,
      cryptogram: peripheralCryptogram(keys, command.random, random),
    },
    effects: [],
    security: { type: 0x12, data: Uint8Array.of(select) },
  };
}

/** SCRYPT → RMAC_I; the session stands. */
export function answerProof(before: PeripheralState, frame: Frame): HandshakeAnswer {
  const state: PeripheralState = { ...before, channel: undefined, handshake: undefined };
  const { handshake } = before;
  const command = frame.code === panelCryptogramCommand.code ? panelCryptogramCommand.decode(frame.data) : undefined;
  const isAsked = handshake !== undefined && frame.security?.data[0] === handshake.select;
  if (!isAsked || command?.kind !== 'panel-cryptogram') return refuse(state, nakReason.securityUnsupported);
  if (!isSameSecret(handshake.cryptogram, command.cryptogram)) return refuse(state, nakReason.securityRequired);
  const mac = initialReplyMac(handshake.keys, command.cryptogram);
  const isPublic = handshake.select === 0;
  return {
    state: { ...state, channel: { keys: handshake.keys, lastReplyMac: mac, isPublic } },
    reply: { kind: 'initial-mac', mac },
    effects: [{ kind: 'session', state: isPublic ? 'default-key' : 'secure' }],
    security: { type: 0x14, data: Uint8Array.of(1) },
  };
}

export type OpenedCommand =
  | { readonly kind: 'opened'; readonly data: Uint8Array; readonly commandMac: Uint8Array }
  | { readonly kind: 'refused' };

const refused: OpenedCommand = { kind: 'refused' };

/** Verifies a secured command and takes its data out. */
export function openCommand(state: PeripheralState, frame: Frame): OpenedCommand {
  const { channel } = state;
  const { security, mac, data } = frame;
  if (channel === undefined || mac === undefined) return refused;
  if (security?.type !== 0x15 && security?.type !== 0x17) return refused;
  const covered = frame.bytes.subarray(0, -(macLength + (frame.check === 'crc' ? 2 : 1)));
  const commandMac = messageMac(channel.keys, channel.lastReplyMac, covered);
  if (!isSameSecret(commandMac.subarray(0, macLength), mac)) return refused;
  if (security.type === 0x15) return data.length === 0 ? { kind: 'opened', data, commandMac } : refused;
  const clear = decryptData(channel.keys, channel.lastReplyMac, data);
  return clear === undefined ? refused : { kind: 'opened', data: clear, commandMac };
}
