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
  HOLDER_ERASED: text(
    ['The holder was erased or is not known here.', 'この利用者は消去されたか、登録されていません。'],
    ['Choose another holder.', '別の利用者を選んでください。'],
  ),
  HOLDER_WITHOUT_ROLE: text(
    [
      'The holder’s keys come with a role, and the holder has none here.',
      '利用者の役割がこの施設にないため、鍵を持てません。',
    ],
    ['Give the holder’s account a role first.', '先に利用者のアカウントに役割を与えてください。'],
  ),
  CARD_TAKEN: text(
    [
      'The card belongs to another credential of this facility.',
      'このカードは、この施設の別の認証情報で使われています。',
    ],
    [
      'Revoke that credential first, or take another card.',
      '先にその認証情報を失効させるか、別のカードを使ってください。',
    ],
    409,
  ),
  CARD_UNREADABLE: text(
    ['The card’s number does not fit its format.', 'カードの番号が形式に合いません。'],
    [
      'Check format, facility code and number, or read the card at a reader.',
      '形式・施設コード・番号を確かめるか、リーダーで読み取ってください。',
    ],
  ),
  USES_NEED_ONE_GATEWAY: text(
    [
      'A credential with a number of uses opens doors of one gateway only.',
      '使用回数のある認証情報は、1台のゲートウェイの扉でしか使えません。',
    ],
    [
      'Choose doors of one gateway, or leave the number of uses out.',
      '1台のゲートウェイの扉を選ぶか、使用回数を外してください。',
    ],
  ),
  KIND_UNSUITED: text(
    ['This kind of credential cannot do that.', 'この種類の認証情報では行えません。'],
    ['Choose another kind.', '別の種類を選んでください。'],
  ),
  VALUE_GONE: text(
    ['The value is no longer kept.', 'この値はもう保存されていません。'],
    ['Issue a new credential.', '新しい認証情報を発行してください。'],
  ),
  PASS_TOO_LARGE: text(
    [
      'The pass names more doors than fit a code that phones show well.',
      '扉が多すぎて、読み取りやすいコードに収まりません。',
    ],
    ['Grant fewer doors.', '扉を減らしてください。'],
  ),
  ENROLMENT_CLOSED: text(
    ['The enrolment window has closed.', 'カード登録の受付は終了しています。'],
    ['Open a new one.', 'もう一度受付を開始してください。'],
  ),
  ENROLMENT_WAITING: text(
    ['No card has been read yet.', 'まだカードが読み取られていません。'],
    ['Present the card to the reader.', 'リーダーにカードをかざしてください。'],
  ),
  WIRED_TWICE: text(
    [
      'Another door of this gateway is wired to the same output, input or reader.',
      '同じゲートウェイの別の扉が、同じ出力・入力・リーダーを使っています。',
    ],
    ['Correct the wiring of one of the two first.', '先にどちらかの配線の設定を直してください。'],
    409,
  ),
  DOOR_UNBOUND: text(
    ['The door belongs to no gateway yet.', 'この扉はまだゲートウェイに割り当てられていません。'],
    ['Bind it to a gateway first.', '先にゲートウェイに割り当ててください。'],
  ),
} as const satisfies Record<string, CodeText>;
