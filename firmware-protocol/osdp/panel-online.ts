/**
 * A reader on line: commands first, then open questions, else POLL; and what its answers mean.
 *
 * Guarantees: a read or key that was waiting from before the connection is discarded and said, until an ACK to a POLL
 * showed that no more are waiting; a refused command is a failure of that command, never of the reader.
 */
import { pollCommand } from './command/poll.ts';
import { type DecodedReply, decodeReply } from './message.ts';
import { freshLink } from './panel-exchange.ts';
import type { CommandOutcome, PanelEffect } from './panel-port.ts';
import { block, restart } from './panel-restart.ts';
import { andThen, move, type OpenExchange, type PanelState, type PanelStep, type Stage } from './panel-state.ts';
import { communicationPauseMs } from './panel-timing.ts';
import type { Answer } from './panel-verdict.ts';
import { ackReply } from './reply/ack.ts';
import { cardReply } from './reply/card.ts';
import { formattedCardReply } from './reply/formatted-card.ts';
import { keysReply } from './reply/keys.ts';
import { nakReason } from './reply/nak.ts';

type Up = Extract<Stage, { kind: 'up' }>;

const staleKind = (code: number): 'card' | 'keys' | undefined => {
  if (code === keysReply.code) return 'keys';
  return code === cardReply.code || code === formattedCardReply.code ? 'card' : undefined;
};

/** What is said of an answer that came before the connection stood. */
export function discardStale(answer: Answer): readonly PanelEffect[] {
  const what = staleKind(answer.code);
  return what === undefined ? [] : [{ kind: 'discarded', what, reason: 'before-connection' }];
}

/** Answers that are news whatever was asked. */
const news: readonly DecodedReply['kind'][] = [
  'card',
  'formatted-card',
  'keys',
  'local-status',
  'input-status',
  'output-status',
  'reader-status',
];

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
  const effects = report(stage, at, isPoll, { answer, reply });
  if (command !== undefined) {
    effects.unshift({ kind: 'command-done', id: command.id, outcome: outcomeOf(reply) });
  }
  const rest = isPoll || command !== undefined ? stage.rest : stage.rest.slice(1);
  const hasSettled = stage.hasSettled || (isPoll && answer.code === ackReply.code);
  const taken = move(answered, { stage: { kind: 'up', rest, hasSettled } }, ...effects);
  return andThen(taken, (next) => drawConsequence(next, at, isPoll, reply));
}

function report(
  stage: Up,
  at: number,
  isPoll: boolean,
  { answer, reply }: { readonly answer: Answer; readonly reply: DecodedReply },
): PanelEffect[] {
  const isNews = isPoll ? reply.kind !== 'ack' && reply.kind !== 'nak' : news.includes(reply.kind);
  if (!isNews) return [];
  const stale = stage.hasSettled ? [] : discardStale(answer);
  return stale.length > 0 ? [...stale] : [{ kind: 'event', at, reply }];
}

function outcomeOf(reply: DecodedReply): CommandOutcome {
  return reply.kind === 'nak' ? { kind: 'refused', nak: reply.reason } : { kind: 'accepted', reply };
}

/** A NAK about sequence or security is about the session; COM moves the reader to another address. */
function drawConsequence(state: PanelState, at: number, isPoll: boolean, reply: DecodedReply): PanelStep {
  if (reply.kind === 'communication') return followTo(state, at, reply.address, reply.baud);
  if (reply.kind !== 'nak') return move(state, {});
  const isAboutSecurity = reply.reason === nakReason.securityRequired || reply.reason === nakReason.securityUnsupported;
  const isSecured = state.link.channel !== undefined;
  if (isSecured && (isAboutSecurity || reply.reason === nakReason.badSequence)) {
    return restart(state, at, 'protocol-fault', false);
  }
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
