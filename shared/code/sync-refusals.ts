/** Why a message between the cloud and a gateway changes nothing. */
import { type CodeText, text } from './code-text.ts';

export const syncRefusals = {
  ENROLMENT_CODE_INVALID: text(
    ['This enrolment code is wrong, used up or too old.', '登録コードが正しくないか、期限が切れています。'],
    ['Make a new code and type it again.', '新しいコードを発行して入力してください。'],
  ),
  ENROLMENT_CODE_USED: text(
    ['Another gateway came in with this code.', 'このコードは別のゲートウェイで使用されています。'],
    [
      'Find out which machine it was, then make a new code.',
      'どの機器か確かめてから、新しいコードを発行してください。',
    ],
    409,
  ),
  FINGERPRINT_DIFFERS: text(
    ['The fingerprint is not the one of this gateway.', 'フィンガープリントが一致しません。'],
    [
      'Compare it again; if it still differs, somebody stands between.',
      'もう一度比べてください。一致しなければ、通信が傍受されています。',
    ],
  ),
  GATEWAY_REVOKED: text(
    ['This gateway was put out of service.', 'このゲートウェイは使用停止になっています。'],
    ['Enrol the machine again with a new code.', '新しいコードで登録し直してください。'],
    403,
  ),
  GATEWAY_NOT_CONFIRMED: text(
    ['Nobody has confirmed this gateway yet.', 'このゲートウェイはまだ承認されていません。'],
    ['Compare its fingerprint and confirm it.', 'フィンガープリントを確かめて承認してください。'],
    403,
  ),
  GATEWAY_NOT_SERVED: text(
    ['This gateway takes no orders.', 'このゲートウェイは操作を受け付けません。'],
    ['Look at its state and its alarms.', '状態と警報を確認してください。'],
  ),
  TRANSPORT_TOKEN_INVALID: text(
    ['The request is not signed by this gateway’s key.', '要求がゲートウェイの鍵で署名されていません。'],
    [
      'Sign this request, and nothing else, with the gateway’s own key.',
      'この要求をゲートウェイ自身の鍵で署名してください。',
    ],
    401,
  ),
  TRANSPORT_TOKEN_OUTDATED: text(
    ['The request’s token is not of this minute.', '要求のトークンの時刻が合いません。'],
    ['Set the clock by the signed time, then sign again.', '署名付き時刻で時計を合わせ、署名し直してください。'],
    401,
  ),
  TRANSPORT_TOKEN_REPEATED: text(
    ['A token is good for one request only.', '同じトークンは一度しか使えません。'],
    ['Sign each request anew.', '要求ごとに署名し直してください。'],
    401,
  ),
  STATEMENT_INVALID: text(
    ['A signed statement is not what it must be.', '署名された内容が正しくありません。'],
    ['Send it as the door process signed it.', '扉プロセスが署名したまま送ってください。'],
  ),
  SNAPSHOT_GONE: text(
    ['This snapshot is no longer kept.', 'このスナップショットは保管されていません。'],
    ['Begin a new one.', '最初から取得し直してください。'],
    409,
  ),
  DOOR_NOT_BOUND: text(
    ['No gateway works this door.', 'この扉を動かすゲートウェイがありません。'],
    ['Bind the door to a gateway.', '扉をゲートウェイに割り当ててください。'],
  ),
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
