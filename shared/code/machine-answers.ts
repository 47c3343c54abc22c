/** What a machine answers when it changes nothing: already there, gone on meanwhile, or never from here. */
import { type CodeText, text } from './code-text.ts';

const noRemedy = ['', ''] as const;
const already = (en: string, ja: string): CodeText => text([en, ja], noRemedy, 200);
const changed = (en: string, ja: string): CodeText =>
  text([en, ja], ['Look at its state now, then decide again.', '現在の状態を確かめて、やり直してください。'], 409);

export const machineAnswers = {
  ILLEGAL_TRANSITION: text(
    ['This cannot happen from the present state.', '現在の状態からは行えません。'],
    ['Look at what is possible from its state.', '現在の状態で可能な操作を確認してください。'],
  ),
  OUTCOME_PENDING: text(
    ['It is not known yet whether this took effect.', '結果がまだ確定していません。'],
    ['Wait: it is settled by itself.', 'しばらくお待ちください。自動的に確定します。'],
  ),
  ALREADY_ISSUED: already('It is in force already.', 'すでに有効です。'),
  ALREADY_SUSPENDED: already('It is suspended already.', 'すでに停止中です。'),
  ALREADY_REVOKED: already('It was revoked already.', 'すでに失効しています。'),
  ALREADY_EXPIRED: already('It has expired already.', 'すでに期限切れです。'),
  ALREADY_ACCEPTED: already('It was accepted already.', 'すでに承諾されています。'),
  ALREADY_WITHDRAWN: already('It was withdrawn already.', 'すでに取り消されています。'),
  ALREADY_CONFIRMED: already('It was confirmed already.', 'すでに確認済みです。'),
  ALREADY_SUPERSEDED: already('It was replaced already.', 'すでに交換されています。'),
  ALREADY_QUARANTINED: already('It is in quarantine already.', 'すでに隔離されています。'),
  ALREADY_RELEASED: already('It is not in quarantine.', '隔離されていません。'),
  ALREADY_DONE: already('It is so already.', 'すでにそのようになっています。'),
  CREDENTIAL_STATE_CHANGED: changed('The credential changed meanwhile.', '認証情報の状態がその間に変わりました。'),
  INVITATION_STATE_CHANGED: changed('The invitation changed meanwhile.', '招待の状態がその間に変わりました。'),
  GATEWAY_STATE_CHANGED: changed('The gateway changed meanwhile.', 'ゲートウェイの状態がその間に変わりました。'),
  COMMAND_STATE_CHANGED: changed('The command changed meanwhile.', '操作の状態がその間に変わりました。'),
} as const satisfies Record<string, CodeText>;
