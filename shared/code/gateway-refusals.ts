/** Why a gateway does not do what was asked of it here, because of the cloud it belongs to, or does not. */
import { type CodeText, text } from './code-text.ts';

export const gatewayRefusals = {
  NOT_ENROLLED: text(
    ['This gateway belongs to no cloud.', 'このゲートウェイはクラウドに登録されていません。'],
    ['Enrol it: kannuki-gateway enroll.', '登録してください(kannuki-gateway enroll)。'],
    409,
  ),
  ALREADY_ENROLLED: text(
    ['This gateway belongs to a cloud already.', 'このゲートウェイはすでにクラウドに登録されています。'],
    ['Take it out first: kannuki-gateway unenroll.', '先に登録を解除してください(kannuki-gateway unenroll)。'],
    409,
  ),
  FACILITY_FROM_CLOUD: text(
    ['This gateway has its facility from the cloud.', 'この施設情報はクラウドから届いています。'],
    [
      'Change it in the cloud, or take the gateway out: kannuki-gateway unenroll.',
      'クラウドで変更するか、登録を解除してください(kannuki-gateway unenroll)。',
    ],
    409,
  ),
  ENROLMENT_CODE_MALFORMED: text(
    ['This is no enrolment code.', '登録コードの形式が正しくありません。'],
    ['Type it as it is shown, from KNK1 to its end.', '表示どおりに入力してください(KNK1-…)。'],
  ),
  ENROLMENT_NOT_PROVEN: text(
    ['Who answered is not the cloud that made the code.', '応答したのは、コードを発行したクラウドではありません。'],
    [
      'Check the address; if it is right, somebody stands between.',
      'アドレスを確かめてください。正しければ、通信が傍受されています。',
    ],
  ),
} as const satisfies Record<string, CodeText>;
