/** Why a door refuses, in the order of precedence. */
import { type CodeText, text } from './code-text.ts';

export const doorRefusals = {
  REQUEST_STALE: text(
    ['The request was older than two seconds.', '要求から2秒以上たっています。'],
    ['Present the credential again.', 'もう一度かざしてください。'],
  ),
  DOOR_UNKNOWN: text(
    ['The reader belongs to no door.', 'リーダーがどの扉にも割り当てられていません。'],
    ['Bind the reader to a door.', 'リーダーを扉に割り当ててください。'],
  ),
  JOURNAL_UNAVAILABLE: text(
    ['The journal cannot take an entry, so nothing is granted.', '履歴を記録できないため、許可できません。'],
    ['Check the disk: kannuki-gateway doctor.', 'ディスクを確認してください(kannuki-gateway doctor)。'],
    503,
  ),
  READER_LOCKED_OUT: text(
    ['The reader is locked after too many wrong PINs.', '暗証番号の誤りが続いたため、リーダーを一時停止しています。'],
    ['Wait until the lock-out ends.', '停止が終わるまでお待ちください。'],
    429,
  ),
  PIN_BUSY: text(
    ['Too many PINs are being checked at once.', '暗証番号の照合が混み合っています。'],
    ['Enter the PIN again.', 'もう一度入力してください。'],
    503,
  ),
  CREDENTIAL_MALFORMED: text(
    ['What was read is not a well-formed credential.', '読み取った内容が正しい形式ではありません。'],
    [
      'Present the card again; check the reader’s card format.',
      'もう一度かざし、リーダーのカード形式を確認してください。',
    ],
  ),
  CREDENTIAL_UNKNOWN: text(
    ['The credential is not known here.', 'この認証情報は登録されていません。'],
    ['Enrol the credential.', '認証情報を登録してください。'],
  ),
  CREDENTIAL_TAMPERED: text(
    ['A stored row was changed outside the gateway.', '保存された情報が不正に書き換えられています。'],
    [
      'Import or synchronize the facility again and inspect the machine.',
      '施設の情報を再取り込みし、機器を調べてください。',
    ],
  ),
  CREDENTIAL_REVOKED: text(
    ['The credential was revoked.', 'この認証情報は失効しています。'],
    ['Issue a new one.', '新しい認証情報を発行してください。'],
  ),
  CREDENTIAL_SUSPENDED: text(
    ['The credential is suspended.', 'この認証情報は停止中です。'],
    ['Restore it.', '停止を解除してください。'],
  ),
  FIRE_ACTIVE: text(
    ['The fire input is active; the gateway gives no commands.', '火災信号を受信中のため、操作しません。'],
    ['Clear the fire alarm first.', '火災信号を解除してください。'],
  ),
  DOOR_LOCKED_DOWN: text(
    ['The door is locked down.', '扉は緊急施錠中です。'],
    ['End the lockdown.', '緊急施錠を解除してください。'],
  ),
  CLOCK_UNTRUSTED: text(
    [
      'The gateway does not know the time, and this decision depends on it.',
      '時刻が確かでないため、時刻に関わる判断ができません。',
    ],
    [
      'Connect a time source, or set the time at the gateway.',
      '時刻源につなぐか、ゲートウェイで時刻を設定してください。',
    ],
  ),
  CREDENTIAL_NOT_YET_VALID: text(
    ['The credential is not valid yet.', '有効期間の前です。'],
    ['Wait for its start, or change it.', '開始を待つか、期間を変更してください。'],
  ),
  CREDENTIAL_EXPIRED: text(
    ['The credential’s validity has ended.', '有効期間が終わっています。'],
    ['Extend it or issue a new one.', '延長するか、新しく発行してください。'],
  ),
  REPLICA_STALE: text(
    [
      'The gateway’s copy is older than this credential allows.',
      'ゲートウェイの情報が、許された期間より古くなっています。',
    ],
    ['Restore the uplink, or import again.', '上位回線を復旧するか、再取り込みしてください。'],
  ),
  DOOR_NOT_GRANTED: text(
    ['The credential has no grant for this door.', 'この扉の権限がありません。'],
    ['Grant the door.', '扉の権限を与えてください。'],
  ),
  OUTSIDE_SCHEDULE: text(
    ['The grant does not apply at this time.', '許可された時間帯の外です。'],
    ['Change the schedule or the grant.', '時間帯または権限を変更してください。'],
  ),
  SECOND_FACTOR_REQUIRED: text(
    ['The door asks for a PIN after the card.', 'カードに続けて暗証番号が必要です。'],
    ['Enter the PIN.', '暗証番号を入力してください。'],
  ),
  SECOND_FACTOR_WRONG: text(
    ['The PIN does not belong to the card’s holder.', '暗証番号がカードの持ち主のものと一致しません。'],
    ['Enter the right PIN.', '正しい暗証番号を入力してください。'],
  ),
  USES_EXHAUSTED: text(
    ['The credential’s uses are spent.', '使用回数の上限に達しました。'],
    ['Issue a new one.', '新しく発行してください。'],
  ),
  ANTI_PASSBACK: text(
    ['The holder already entered and has not left.', '退出の記録がないまま、再び入ろうとしています。'],
    [
      'Leave through an exit reader, or reset the holder’s area.',
      '出口のリーダーで退出するか、在室記録を消してください。',
    ],
  ),
  FIRST_PERSON_REQUIRED: text(
    ['Nobody entitled to open the day has entered yet.', '最初に入るべき人がまだ入っていません。'],
    ['Let a first-person holder enter.', '担当者が先に入ってください。'],
  ),
  ESCORT_REQUIRED: text(
    ['A second holder must present within 15 seconds.', '15秒以内にもう一人の認証が必要です。'],
    ['Let the second holder present.', 'もう一人がかざしてください。'],
  ),
  INTERLOCK: text(
    ['Another door of the interlock is not secured.', '連動する別の扉が施錠されていません。'],
    ['Close the other door.', 'もう一方の扉を閉めてください。'],
  ),
  LOCK_UNREACHABLE: text(
    ['The lock does not answer.', '錠が応答しません。'],
    ['Check the lock’s line and power.', '錠の配線と電源を確認してください。'],
    503,
  ),
  INTERNAL_FAULT: text(
    ['The decision could not be made because of a fault.', '内部の不具合により判断できませんでした。'],
    ['Send a support bundle.', 'サポートに情報を送ってください。'],
    500,
  ),
} as const satisfies Record<string, CodeText>;
