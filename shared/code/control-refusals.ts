/** Why a command at the gateway itself is not done: nobody answers, or what answers cannot or may not. */
import { type CodeText, text } from './code-text.ts';

export const controlRefusals = {
  GATEWAY_NOT_RUNNING: text(
    ['No gateway answers here.', 'ゲートウェイが動いていません。'],
    ['Start it: kannuki-gateway run.', '起動してください(kannuki-gateway run)。'],
    503,
  ),
  GATEWAY_FORBIDDEN: text(
    ['This user may not speak to the gateway.', 'この利用者はゲートウェイに接続できません。'],
    [
      'Run this as root, or as a user in the group of its socket.',
      'root か、ソケットのグループに属する利用者で実行してください。',
    ],
    403,
  ),
  GATEWAY_SILENT: text(
    ['The gateway does not answer.', 'ゲートウェイが応答しません。'],
    ['Look at its log; restart it.', 'ログを確認し、再起動してください。'],
    503,
  ),
  UNAVAILABLE: text(
    ['The gateway cannot do this now.', 'ゲートウェイは今この操作に応じられません。'],
    [
      'Where it has just been started, ask again in a moment.',
      '起動直後なら、少し待ってからもう一度実行してください。',
    ],
    503,
  ),
  DEADLINE: text(
    ['It took too long and was given up.', '時間がかかりすぎたため、中止しました。'],
    [
      'Ask again; if it stays so: kannuki-gateway doctor.',
      'もう一度実行してください。続く場合は kannuki-gateway doctor で点検します。',
    ],
    503,
  ),
  BUSY: text(
    ['The gateway is busy with something else.', 'ゲートウェイが別の処理をしています。'],
    ['Ask again in a moment.', '少し待ってからもう一度実行してください。'],
    503,
  ),
  BAD_REQUEST: text(
    ['The gateway does not understand what was asked.', '指定の内容に誤りがあります。'],
    ['Correct what is named.', '示された点を直してください。'],
    400,
  ),
  NOT_ALLOWED: text(
    ['This may not be asked from here.', 'ここからは実行できません。'],
    ['Ask on the machine itself, as its operator.', 'ゲートウェイ本体で、管理者として実行してください。'],
    403,
  ),
  DEVICE_TAKES_NO_KEY: text(
    [
      'The device takes no key: its configuration says plain, or names a key file.',
      'この機器に鍵は設定できません。設定が plain か、鍵ファイルが指定されています。',
    ],
    [
      'Say security: secure in the configuration, without keyFile.',
      '設定を security: secure にし、keyFile を外してください。',
    ],
    409,
  ),
  DEVICE_HAS_KEY: text(
    ['The device has a key of its own.', 'この機器にはすでに鍵があります。'],
    [
      'If it was exchanged: kannuki-gateway accept-device, then this.',
      '交換した場合は、先に kannuki-gateway accept-device を実行してください。',
    ],
    409,
  ),
  TIME_NOT_TAKEN: text(
    ['The time contradicts what the gateway knows.', 'ゲートウェイの確かな時刻と矛盾するため、設定しませんでした。'],
    [
      'Check the time and its offset; while the gateway knows the time, none is set by hand.',
      '時刻と時差を確認してください。ゲートウェイが時刻を知っている間、手では設定できません。',
    ],
  ),
  CONFIG_INVALID: text(
    ['The configuration cannot be used.', '設定ファイルを使えません。'],
    ['Correct what is named above.', '上に示された点を直してください。'],
  ),
  DATA_FOLDER_IN_USE: text(
    ['Another gateway already uses the data folder.', '別のゲートウェイがこのデータフォルダーを使っています。'],
    ['End the other one first.', '先にそちらを終了してください。'],
    409,
  ),
  CONTROL_SOCKET_IN_USE: text(
    ['Another gateway already runs here.', '別のゲートウェイがすでに動いています。'],
    ['End the other one first.', '先にそちらを終了してください。'],
    409,
  ),
} as const satisfies Record<string, CodeText>;
