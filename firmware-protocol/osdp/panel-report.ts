/**
 * What a reader's answer is worth as news.
 *
 * Guarantee: a read or key that waited in the reader while no panel listened is discarded and said; minutes old, it must
 * open nothing. Status is never stale: it says how things are.
 */
import { type DecodedReply, decodeReply } from './message.ts';
import type { PanelEffect } from './panel-port.ts';
import type { Answer } from './panel-verdict.ts';
import { cardReply } from './reply/card.ts';
import { formattedCardReply } from './reply/formatted-card.ts';
import { keysReply } from './reply/keys.ts';

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

const staleKind = (code: number): 'card' | 'keys' | undefined => {
  if (code === keysReply.code) return 'keys';
  return code === cardReply.code || code === formattedCardReply.code ? 'card' : undefined;
};

/** What is said of an answer that came before the connection stood. */
export function discardStale(answer: Answer): readonly PanelEffect[] {
  const what = staleKind(answer.code);
  return what === undefined ? [] : [{ kind: 'discarded', what, reason: 'before-connection' }];
}

/**
 * @param question whether it answers a POLL, so that anything but ACK and NAK is news; and whether the reader was seen to
 *   have nothing old waiting.
 */
export function reportAnswer(
  answer: Answer,
  at: number,
  question: { readonly isPoll: boolean; readonly hasSettled: boolean },
): readonly PanelEffect[] {
  const reply = decodeReply(answer.code, answer.data);
  const isNews = question.isPoll ? reply.kind !== 'ack' && reply.kind !== 'nak' : news.includes(reply.kind);
  if (!isNews) return [];
  const stale = question.hasSettled ? [] : discardStale(answer);
  return stale.length > 0 ? stale : [{ kind: 'event', at, reply }];
}
