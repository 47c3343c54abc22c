/** Why a credential is not issued, changed or shown. */
import { type CodeText, text } from './code-text.ts';

export const credentialRefusals = {
  PAYMENT_REQUIRED: text(
    ['A payment is still due.', 'お支払いが済んでいません。'],
    ['Settle it first.', '先にお支払いを済ませてください。'],
  ),
  NOT_CHECKED_IN: text(
    ['The guest has not checked in.', 'チェックインが済んでいません。'],
    ['Check in first.', '先にチェックインしてください。'],
  ),
  PIN_SPACE_EXHAUSTED: text(
    [
      'One more PIN would make guessing one too easy.',
      '暗証番号をこれ以上増やすと、推測されやすくなるため発行できません。',
    ],
    ['Use longer PINs, or revoke unused ones.', '桁数を増やすか、使っていない番号を失効させてください。'],
  ),
} as const satisfies Record<string, CodeText>;
