/** What needs somebody’s attention now. */
import { type CodeText, text } from './code-text.ts';

export const alarmTexts = {
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
  GATEWAY_FORKED: text(
    [
      'A gateway tells another history than before: it may have been copied.',
      'ゲートウェイの履歴が食い違っています。複製された可能性があります。',
    ],
    ['Inspect the machine; replace or revoke it.', '機器を調べ、交換または使用停止にしてください。'],
  ),
  GATEWAY_DIFFERS: text(
    [
      'A gateway did not hold what it should; it is being repaired.',
      'ゲートウェイの内容に差異があり、修復しています。',
    ],
    ['If it comes again, inspect its disk.', '繰り返す場合はディスクを調べてください。'],
  ),
  GATEWAY_REGRESSED: text(
    ['A gateway went back to an older state.', 'ゲートウェイが古い状態に戻りました。'],
    ['Find out whether an old disk was put back.', '古いディスクが戻されていないか調べてください。'],
  ),
  CLOUD_REGRESSED: text(
    [
      'A gateway holds more than this database: an older backup was restored here.',
      'このデータベースは古いバックアップから復元されています。',
    ],
    ['Check which changes since the backup are missing.', 'バックアップ以降の変更が失われていないか確認してください。'],
  ),
  STATEMENT_FORGED: text(
    ['Something was passed on as the cloud’s word and is not.', 'クラウドを装った内容が届きました。'],
    [
      'Look at the edge process and the network; what was passed on had no effect.',
      '中継プロセスとネットワークを調べてください。内容は適用されていません。',
    ],
  ),
  GATEWAY_OUT_OF_SERVICE: text(
    ['The cloud has put this gateway out of service.', 'クラウドがこのゲートウェイを使用停止にしました。'],
    ['Doors go on until their leases end; enrol it again.', '猶予の間は動作します。登録し直してください。'],
  ),
  FEED_HELD_UP: text(
    [
      'The cloud changed something that this version does not know.',
      'このバージョンが対応していない変更がクラウドにあります。',
    ],
    ['Update the gateway.', 'ゲートウェイを更新してください。'],
  ),
  JOURNAL_MISSING: text(
    ['A part of a gateway’s history will never arrive.', 'ゲートウェイの履歴の一部が失われました。'],
    ['Find out why it was let go or lost.', '失われた理由を調べてください。'],
  ),
} as const satisfies Record<string, CodeText>;
