/** Why a message between the cloud and a gateway changes nothing. */
import { type CodeText, text } from './code-text.ts';

export const syncRefusals = {
  JOURNAL_GAP: text(
    ['Journal entries are missing before these.', 'この前の履歴が届いていません。'],
    ['Send from the number that is expected.', '示された番号から送ってください。'],
    409,
  ),
  JOURNAL_FORKED: text(
    ['Two different entries carry one number.', '同じ番号の異なる履歴があります。'],
    ['Find out whether the gateway was copied.', 'ゲートウェイが複製されていないか調べてください。'],
    409,
  ),
  FEED_UNSUPPORTED: text(
    [
      'The gateway does not understand a change it must not skip.',
      'ゲートウェイが対応していない重要な変更があります。',
    ],
    ['Update the gateway.', 'ゲートウェイを更新してください。'],
    409,
  ),
} as const satisfies Record<string, CodeText>;
