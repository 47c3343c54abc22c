/**
 * From two nonces to a session: challenge, proof of both sides, and the key that is set on the way if one is to be.
 *
 * Guarantees: each key is tried with a fresh nonce at sequence 0; an answer for another key than asked, a wrong proof or
 * a refusal ends that try; when all tries failed the reader alarms and rests, and nothing weaker is tried.
 */
import { freshLink } from './panel-exchange.ts';
import { isSameReader } from './panel-identity.ts';
import { startInquiry } from './panel-inquiry.ts';
import { keyAttempts, proveKey, refuseKey } from './panel-keys.ts';
import { block, restart, retryHandshake } from './panel-restart.ts';
import { andThen, type KeyAttempt, move, type PanelState, type PanelStep, raise, type Stage } from './panel-state.ts';
import type { Answer } from './panel-verdict.ts';
import { ackReply } from './reply/ack.ts';
import { challengeAnswerReply } from './reply/challenge-answer.ts';
import { initialMacReply } from './reply/initial-mac.ts';
import { nakReply } from './reply/nak.ts';
import {
  deriveSessionKeys,
  initialReplyMac,
  isSameSecret,
  panelCryptogram,
  peripheralCryptogram,
} from './secure-channel.ts';

type StageOf<Kind extends Stage['kind']> = Extract<Stage, { kind: Kind }>;

/** 0 asks for the public key, 1 for the reader's own. */
export function keySelect(attempt: KeyAttempt): number {
  return attempt.role === 'default' ? 0 : 1;
}

/** Begins with the first key worth trying; without any, the reader waits for an operator. */
export function startHandshake(state: PanelState, at: number): PanelStep {
  const [attempt, ...rest] = keyAttempts(state);
  if (attempt === undefined) return block(state, at, 'security-required');
  return challenge(state, attempt, rest);
}

function challenge(state: PanelState, attempt: KeyAttempt, rest: readonly KeyAttempt[]): PanelStep {
  const link = freshLink(state.link.address, state.link.check);
  return move(state, { link, stage: { kind: 'challenge', attempt, rest, nonce: undefined } });
}

function tryNext(state: PanelState, at: number, stage: StageOf<'challenge' | 'prove'>, problem: string): PanelStep {
  const [attempt, ...rest] = stage.rest;
  if (attempt !== undefined) return challenge(state, attempt, rest);
  // One failed handshake may be a late or damaged message; the second is the reader's own.
  if (state.failures === 0) return retryHandshake(state, at);
  const isOther = state.installUntil === undefined && !isSameReader(state.expectedIdentity, state.identity);
  const alarmed = andThen(raise(state, at, 'DEVICE_KEY_MISMATCH', problem), (next) =>
    isOther ? raise(next, at, 'DEVICE_IDENTITY_CHANGED', 'other-reader-without-the-key') : move(next, {}),
  );
  return andThen(alarmed, (next) => block(next, at, isOther ? 'identity-changed' : 'key-mismatch'));
}

/** CCRYPT, or a refusal. */
export function takeChallengeAnswer(
  state: PanelState,
  at: number,
  stage: StageOf<'challenge'>,
  answer: Answer,
): PanelStep {
  const { attempt, rest, nonce } = stage;
  if (answer.code === nakReply.code) return tryNext(state, at, stage, 'handshake-refused');
  const reply = answer.code === challengeAnswerReply.code ? challengeAnswerReply.decode(answer.data) : undefined;
  if (nonce === undefined || reply?.kind !== 'challenge-answer' || answer.security?.type !== 0x12) {
    return tryNext(state, at, stage, 'handshake-malformed');
  }
  if (answer.security.data[0] !== keySelect(attempt)) {
    const alarmed = raise(state, at, 'DEVICE_SECURITY_LOST', 'other-key-offered');
    return andThen(alarmed, (next) => tryNext(next, at, stage, 'other-key-offered'));
  }
  const keys = deriveSessionKeys(attempt.key, nonce);
  if (!isSameSecret(peripheralCryptogram(keys, nonce, reply.random), reply.cryptogram)) {
    return tryNext(state, at, stage, 'wrong-key');
  }
  const cryptogram = panelCryptogram(keys, nonce, reply.random);
  return move(state, { link: answer.link, stage: { kind: 'prove', attempt, rest, keys, cryptogram } });
}

const refusedStatus = 0xff;

/** RMAC_I, or a refusal. */
export function takeProofAnswer(state: PanelState, at: number, stage: StageOf<'prove'>, answer: Answer): PanelStep {
  const { security } = answer;
  const reply = answer.code === initialMacReply.code ? initialMacReply.decode(answer.data) : undefined;
  const lastReplyMac = initialReplyMac(stage.keys, stage.cryptogram);
  const isAccepted = security?.type === 0x14 && security.data[0] !== refusedStatus && reply?.kind === 'initial-mac';
  if (!isAccepted || !isSameSecret(lastReplyMac, reply.mac)) return tryNext(state, at, stage, 'proof-refused');
  const link = { ...answer.link, channel: { keys: stage.keys, lastReplyMac } };
  return enterChannel({ ...state, link, silentChallenges: 0 }, stage.attempt);
}

function enterChannel(before: PanelState, attempt: KeyAttempt): PanelStep {
  const state = { ...before, keys: proveKey(before.keys, attempt) };
  const isPublic = attempt.role === 'default';
  if (isPublic || state.keys.candidate !== undefined) return move(state, { stage: { kind: 'set-key', isPublic } });
  if (attempt.role === 'current') return startInquiry(state);
  // The window meant this reader, whichever it is; otherwise it must still be the one that was enrolled.
  const expectedIdentity = state.installUntil === undefined ? state.expectedIdentity : undefined;
  return startInquiry({ ...state, installUntil: undefined, expectedIdentity });
}

/** After a key was taken only a handshake with it proves it, whatever the reader keeps of the old session. */
export function takeKeyAnswer(state: PanelState, at: number, answer: Answer): PanelStep {
  if (answer.code === ackReply.code) return startHandshake(state, at);
  if (answer.code !== nakReply.code) return restart(state, at, 'protocol-fault', false);
  return andThen(refuseKey({ ...state, link: answer.link }, false), (next) => startHandshake(next, at));
}
