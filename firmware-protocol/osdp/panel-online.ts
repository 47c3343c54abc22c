/**
 * What the answers of a reader on line mean: outcomes, news, and what follows for the session.
 *
 * Guarantees: until an ACK to a POLL showed that nothing old is waiting, reads and keys are discarded; a refused command
 * is a failure of that command, never of the reader.
 */
import { pollCommand } from './command/poll.ts';
import { receiveSizeCommand } from './command/receive-size.ts';
import { setCommunicationCommand } from './command/set-communication.ts';
import { type DecodedReply, decodeReply } from './message.ts';
import { freshLink } from './panel-exchange.ts';
import type { CommandOutcome, PanelEffect } from './panel-port.ts';
import { reportAnswer } from './panel-report.ts';
import { block, restart } from './panel-restart.ts';
import { andThen, move, type OpenExchange, type PanelState, type PanelStep, type Stage } from './panel-state.ts';
import { communicationPauseMs } from './panel-timing.ts';
import type { Answer } from './panel-verdict.ts';
import { ackReply } from './reply/ack.ts';
import { nakReason } from './reply/nak.ts';

type Up = Extract<Stage, { kind: 'up' }>;

/** An answer to a command, a question or a POLL of a reader that is on line. */
export function takeAnswer(
  state: PanelState,
  at: number,
  stage: Up,
  exchange: OpenExchange & { readonly answer: Answer },
): PanelStep {
  const { answer, command } = exchange;
  const reply = decodeReply(answer.code, answer.data);
  const isPoll = exchange.code === pollCommand.code && command === undefined;
  const answered = { ...state, link: answer.link };
  const effects: PanelEffect[] =
    command === undefined ? [] : [{ kind: 'command-done', id: command.id, outcome: outcomeOf(reply) }];
  effects.push(...reportAnswer(answer, at, { isPoll, hasSettled: stage.hasSettled }));
  const rest = isPoll || command !== undefined ? stage.rest : stage.rest.slice(1);
  const hasSettled = stage.hasSettled || (isPoll && answer.code === ackReply.code);
  const taken = move(answered, { stage: { kind: 'up', rest, hasSettled } }, ...effects);
  return andThen(taken, (next) => drawConsequence(next, at, exchange, reply));
}

function outcomeOf(reply: DecodedReply): CommandOutcome {
  return reply.kind === 'nak' ? { kind: 'refused', nak: reply.reason } : { kind: 'accepted', reply };
}

/** A NAK about sequence or security is about the session; COM moves the reader to another address. */
function drawConsequence(state: PanelState, at: number, exchange: OpenExchange, reply: DecodedReply): PanelStep {
  if (reply.kind === 'communication' && exchange.code === setCommunicationCommand.code) {
    return followTo(state, at, reply.address, reply.baud);
  }
  // Many readers do not know it, and lose nothing by that.
  if (reply.kind !== 'nak' || exchange.code === receiveSizeCommand.code) return move(state, {});
  const isAboutSecurity = reply.reason === nakReason.securityRequired || reply.reason === nakReason.securityUnsupported;
  const isSecured = state.link.channel !== undefined;
  if (isSecured && (isAboutSecurity || reply.reason === nakReason.badSequence)) {
    return restart(state, at, 'protocol-fault', false);
  }
  const isPoll = exchange.code === pollCommand.code;
  return isPoll && isAboutSecurity && !isSecured ? block(state, at, 'security-required') : move(state, {});
}

/** The conversation begins anew with the values the reader named, after a pause in which both sides switch. */
function followTo(state: PanelState, at: number, address: number, baud: number): PanelStep {
  const moved = restart(state, at, 'protocol-fault', false);
  const link = freshLink(address, state.link.check);
  return andThen(moved, (next) =>
    move(next, { link, notBefore: at + communicationPauseMs }, { kind: 'communication', address, baud }),
  );
}
