/**
 * The one registry of codes. A refusal, an alarm or a fault reads the same at the door, in the terminal, in the journal.
 *
 * Codes are UPPER_SNAKE and closed: a code that is not here does not compile. Texts are complete sentences in the
 * voice of the product; the remedy says what a person can do. `http` is the status where the code leaves over HTTP.
 */
interface CodeText {
  readonly en: string;
  readonly ja: string;
  readonly remedyEn: string;
  readonly remedyJa: string;
  readonly http: number;
}

type Bilingual = readonly [en: string, ja: string];
const text = (says: Bilingual, remedy: Bilingual, http = 422): CodeText => ({
  en: says[0],
  ja: says[1],
  remedyEn: remedy[0],
  remedyJa: remedy[1],
  http,
});

/** Why a door refuses, in the order of precedence. */
export const refusals = {
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
export type RefusalCode = keyof typeof refusals;

/** What needs somebody’s attention now. */
export const alarms = {
  DOOR_FORCED: text(
    ['The door opened without a release.', '解錠していないのに扉が開きました。'],
    ['Look at the door.', '扉を確認してください。'],
  ),
  DOOR_HELD: text(
    ['The door has been open too long.', '扉が長く開いたままです。'],
    ['Close the door.', '扉を閉めてください。'],
  ),
  LOCK_JAMMED: text(
    ['The lock did not do as told.', '錠が指示どおりに動きませんでした。'],
    ['Look at the lock.', '錠を確認してください。'],
  ),
  DURESS: text(
    ['A duress credential was used.', '脅迫時用の認証情報が使われました。'],
    ['Follow the site’s duress procedure.', '施設の手順に従ってください。'],
  ),
  FIRE: text(
    ['The fire input is active.', '火災信号を受信しました。'],
    ['Follow the site’s fire procedure.', '施設の手順に従ってください。'],
  ),
  READER_LOCKED: text(
    ['A reader was locked after wrong PINs.', '暗証番号の誤りによりリーダーを停止しました。'],
    ['Find out who tried.', '状況を確認してください。'],
  ),
  DEVICE_OFFLINE: text(
    ['A device stopped answering.', '機器が応答しなくなりました。'],
    ['Check its cable and power.', '配線と電源を確認してください。'],
  ),
  DEVICE_TAMPERED: text(
    ['A device reports that it was opened or moved.', '機器が開けられたか動かされました。'],
    ['Inspect the device.', '機器を調べてください。'],
  ),
  DEVICE_POWER_FAILED: text(
    ['A device reports a power failure.', '機器の電源に異常があります。'],
    ['Check its power supply.', '電源を確認してください。'],
  ),
  DEVICE_KEY_MISMATCH: text(
    ['A device does not hold the expected key.', '機器の鍵が一致しません。'],
    [
      'Inspect the device; install the key again only if it is yours.',
      '機器を調べ、正規のものと確かめてから鍵を入れ直してください。',
    ],
  ),
  DEVICE_KEY_MISSING: text(
    ['A device’s key file cannot be used.', '機器の鍵ファイルが使えません。'],
    ['Put the file right: it is tried again by itself.', 'ファイルを直してください。自動的に再試行します。'],
  ),
  DEVICE_IDENTITY_CHANGED: text(
    ['A different device answers at this address.', '登録と異なる機器が応答しています。'],
    ['Inspect the device; enrol the new one if you exchanged it.', '機器を調べ、交換した場合は登録し直してください。'],
  ),
  DEVICE_SECURITY_LOST: text(
    ['Somebody tried to make a device speak without encryption.', '暗号化なしの通信へ誘導されました。'],
    ['Inspect the line.', '配線を調べてください。'],
  ),
  DEVICE_MESSAGE_FORGED: text(
    ['A message on the line was forged, changed or replayed.', '通信の改ざんまたは再送を検出しました。'],
    ['Inspect the line.', '配線を調べてください。'],
  ),
  DEVICE_INPUT_FAULT: text(
    ['A supervised input is short, cut or faulty.', '監視入力が短絡・断線・異常です。'],
    ['Inspect the wiring.', '配線を調べてください。'],
  ),
  LINE_FOREIGN_PANEL: text(
    ['Another panel speaks on the line.', '別の制御盤が同じ回線で通信しています。'],
    ['Find and remove it.', '探して取り外してください。'],
  ),
  INSTALL_WINDOW_OPEN: text(
    ['A device may be given a key now.', '機器への鍵の設定を許可しています。'],
    ['It closes by itself.', '自動的に終了します。'],
  ),
  CLOCK_DOUBTED: text(
    ['The gateway no longer trusts its clock.', '時計を信頼できなくなりました。'],
    ['Check the time sources.', '時刻源を確認してください。'],
  ),
  ROW_TAMPERED: text(
    ['A stored row was changed outside the gateway.', '保存された情報が不正に書き換えられています。'],
    ['Import again and inspect the machine.', '再取り込みし、機器を調べてください。'],
  ),
  REPLICA_QUARANTINED: text(
    ['The stored credentials are older than the journal says, or damaged.', '保存された認証情報が古いか壊れています。'],
    ['Import or synchronize again.', '再取り込みしてください。'],
  ),
  JOURNAL_DAMAGED: text(
    ['The journal file was damaged and set aside.', '履歴のファイルが壊れていたため、退避しました。'],
    ['Keep the set-aside file; inspect the disk.', '退避したファイルを保管し、ディスクを調べてください。'],
  ),
  JOURNAL_FULL: text(
    ['The journal has reached its budget.', '履歴が上限に達しました。'],
    ['Restore the uplink, or raise the budget.', '上位回線を復旧するか、上限を上げてください。'],
  ),
  STORAGE_LOW: text(
    ['The disk is nearly full.', 'ディスクの空きが残りわずかです。'],
    ['Free some space.', '空きを作ってください。'],
  ),
  STORAGE_DAMAGED: text(
    ['A database of the gateway is damaged.', 'データベースのファイルが壊れています。'],
    [
      'Keep a copy of the data folder, and replace the disk.',
      'データフォルダーの写しを取り、ディスクを交換してください。',
    ],
  ),
  STORAGE_FULL: text(['The disk is full.', 'ディスクがいっぱいです。'], ['Free some space.', '空きを作ってください。']),
  STORAGE_FAILED: text(
    ['The disk cannot be written.', 'ディスクに書き込めません。'],
    ['Check the disk.', 'ディスクを確認してください。'],
  ),
} as const satisfies Record<string, CodeText>;
export type AlarmCode = keyof typeof alarms;

/** What is wrong with a file the gateway lives on: it stops or waits, and says which. */
export const faults = {
  STORE_MISSING: text(
    ['The file or its folder does not exist.', 'ファイルまたはフォルダがありません。'],
    ['Check the data directory in the configuration.', '設定のデータフォルダを確認してください。'],
    503,
  ),
  STORE_FORBIDDEN: text(
    ['The file or its folder may not be read or written by this user.', 'ファイルまたはフォルダの権限がありません。'],
    ['Give the folder and its files to the gateway’s user.', 'ゲートウェイの利用者に権限を与えてください。'],
    503,
  ),
  STORE_READ_ONLY: text(
    ['The disk is read-only.', 'ディスクが読み取り専用です。'],
    [
      'Check the disk; a failing card often turns read-only.',
      'ディスクを確認してください。故障の前兆のことがあります。',
    ],
    503,
  ),
  STORE_FULL: text(
    ['The disk is full.', 'ディスクがいっぱいです。'],
    ['Free some space.', '空きを作ってください。'],
    503,
  ),
  STORE_DAMAGED: text(
    ['The file is damaged.', 'ファイルが壊れています。'],
    ['Keep the file; inspect the disk.', 'ファイルを保管し、ディスクを調べてください。'],
    503,
  ),
  STORE_NEWER_SCHEMA: text(
    ['A later version of the gateway wrote the file.', '新しい版のゲートウェイが書いたファイルです。'],
    ['Install that version, or restore a backup.', 'その版を導入するか、バックアップを復元してください。'],
    503,
  ),
  STORE_MIGRATION_CHANGED: text(
    ['The file was migrated by another build of this version.', '同じ版の別のビルドが変換したファイルです。'],
    ['Install a released build.', '正式なビルドを導入してください。'],
    503,
  ),
  STORE_SQLITE_TOO_OLD: text(
    ['The SQLite library could lose a commit.', 'SQLite が古く、記録を失うおそれがあります。'],
    ['Use SQLite 3.51.3 or later.', 'SQLite 3.51.3 以降を使ってください。'],
    503,
  ),
  STORE_WRONG_KEY: text(
    ['The file was written under another master key.', '別のマスターキーで書かれたファイルです。'],
    ['Put back the master key that belongs to this data.', 'このデータのマスターキーを戻してください。'],
    503,
  ),
  STORE_BUSY: text(
    ['Another program holds the file.', '別のプログラムがファイルを使っています。'],
    ['End the other program.', 'そのプログラムを終了してください。'],
    503,
  ),
  STORE_FAILED: text(
    ['The disk failed.', 'ディスクの読み書きに失敗しました。'],
    ['Check the disk.', 'ディスクを確認してください。'],
    503,
  ),
  MASTER_KEY_MISSING: text(
    ['There is no master key.', 'マスターキーがありません。'],
    ['Put it back; a new one opens nothing that is stored.', '元の鍵を戻してください。新しい鍵では開けません。'],
    503,
  ),
  MASTER_KEY_FORBIDDEN: text(
    ['The master key cannot be read or made.', 'マスターキーを読み書きできません。'],
    ['Give the file to the gateway’s user, mode 0400.', 'ゲートウェイの利用者の所有、モード 0400 にしてください。'],
    503,
  ),
  MASTER_KEY_EXPOSED: text(
    ['Others may read the master key.', 'マスターキーを他の利用者が読めます。'],
    ['Set its mode to 0400, and consider it known.', 'モードを 0400 にし、漏えいを疑ってください。'],
    503,
  ),
  MASTER_KEY_MALFORMED: text(
    ['The master key does not have 32 bytes.', 'マスターキーが 32 バイトではありません。'],
    ['Put back the right file.', '正しいファイルを戻してください。'],
    503,
  ),
  MASTER_KEY_NOT_FRESH: text(
    [
      'There is a key or data already; a new key could not open it.',
      '既に鍵またはデータがあり、新しい鍵では開けません。',
    ],
    ['Use the key that is there, or an empty data directory.', '既存の鍵か、空のデータフォルダを使ってください。'],
  ),
} as const satisfies Record<string, CodeText>;
export type FaultCode = keyof typeof faults;

export const grants = {
  GRANTED: text(['Granted.', '許可しました。'], ['', ''], 200),
} as const satisfies Record<string, CodeText>;

export type Code = RefusalCode | AlarmCode | FaultCode | keyof typeof grants;

const registry: Readonly<Record<Code, CodeText>> = { ...refusals, ...alarms, ...faults, ...grants };

/** Whether a text that came over a wire or out of a file is a code of ours. */
export function isCode(value: string): value is Code {
  return Object.hasOwn(registry, value);
}

export type Language = 'en' | 'ja';

/** The sentence a person reads for a code. */
export function codeText(code: Code, language: Language): string {
  return registry[code][language];
}

/** What a person can do about it; empty where nothing needs doing. */
export function codeRemedy(code: Code, language: Language): string {
  return language === 'ja' ? registry[code].remedyJa : registry[code].remedyEn;
}
