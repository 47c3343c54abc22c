/** What the doctor says of the machine and of what stands at its lines. Pure. */
import { broken, type FindingRow, fine, risky } from './finding-row.ts';

const asGateway = [
  'run this as the gateway’s user, or as root',
  'ゲートウェイの利用者か root で実行してください',
] as const;
const putDigits = [
  'put the 32 hexadecimal digits of its key there',
  '機器の鍵(16進数 32桁)を書いたファイルを置いてください',
] as const;

export const machineRows = {
  'folder-fine': fine(['{path}, mode {mode}', '{path}(モード {mode})']),
  'folder-absent': risky(
    ['{path} does not exist', '{path} がありません'],
    ['the gateway makes it when it starts, if it may', '権限があれば、起動時に作られます'],
  ),
  'folder-forbidden': broken(
    ['{path} may not be written', '{path} に書き込めません'],
    ['give the gateway’s user rights to {path}', 'ゲートウェイの利用者に {path} の権限を与えてください'],
  ),
  'folder-exposed': risky(
    ['{path} has mode {mode}', '{path} のモードが {mode} です'],
    ['chmod 700 {path}', '実行してください: chmod 700 {path}'],
  ),
  'space-fine': fine(['{free} MiB free, journal may take {budget} MiB', '空き {free} MiB、履歴の上限 {budget} MiB']),
  'space-unknown': risky(['no data folder yet', 'データフォルダーがまだありません'], ['', '']),
  'space-short': broken(
    [
      '{free} MiB free; below {least} MiB journal and imports may soon find no room',
      '空き {free} MiB。{least} MiB を下回ると、履歴や取り込みの場所がなくなります',
    ],
    ['free some space', '空きを作ってください'],
  ),
  'space-below-budget': risky(
    ['{free} MiB free, journal may take {budget} MiB', '空き {free} MiB、履歴の上限 {budget} MiB'],
    ['lower journal.budgetMiB, or add space', 'journal.budgetMiB を下げるか、空きを増やしてください'],
  ),
  'master-key-given': fine(['given by systemd', 'systemd から受け取ります']),
  'master-key-fine': fine(['{path}, mode {mode}', '{path}(モード {mode})']),
  'master-key-hidden': risky(['{path} may not be looked at', '{path} を確認する権限がありません'], asGateway),
  'master-key-lost': broken(
    [
      '{path} does not exist, and {folder} holds data that only it opens',
      '{path} がありません。{folder} のデータはこの鍵でしか開けません',
    ],
    ['put the key of this gateway back', 'このゲートウェイの鍵を戻してください'],
  ),
  'master-key-not-made': risky(
    ['{path} does not exist', '{path} がありません'],
    ['it is made at the first start with an empty data folder', 'データフォルダーが空なら、最初の起動で作られます'],
  ),
  'master-key-exposed': broken(
    ['{path} can be read by others (mode {mode})', '{path} を他の利用者が読めます(モード {mode})'],
    ['chmod 400 {path}', '実行してください: chmod 400 {path}'],
  ),
  'tpm-present': fine(['present', 'あります']),
  'tpm-absent': risky(
    ['none: whoever steals the disk has the keys', 'ありません。ディスクを盗まれると鍵も渡ります'],
    [
      'if the box is stolen, change the reader keys and import anew',
      '盗まれたときは、リーダーの鍵を替え、施設を取り込み直してください',
    ],
  ),
  'time-assumed': risky(
    ['the configuration assumes that the clock is right', '設定により、時計を正しいものとみなしています'],
    ['set clock.ntp to kernel outside demonstrations', '実運用では clock.ntp を kernel にしてください'],
  ),
  'time-battery': fine(['from the battery-backed clock', '電池で動く時計を使います']),
  'time-no-source': risky(
    ['no source is configured', '時刻源が設定されていません'],
    [
      'use clock.ntp: kernel, or kannuki-gateway clock-set after each start',
      'clock.ntp: kernel にするか、起動のたびに kannuki-gateway clock-set を実行してください',
    ],
  ),
  'time-synchronized': fine(['the kernel’s clock is synchronized', '時計は同期しています']),
  'time-unsynchronized': risky(
    ['the clock is not synchronized', '時計が同期していません'],
    [
      'enable systemd-timesyncd or chrony; until then what depends on the time is refused',
      'systemd-timesyncd か chrony を有効にしてください。それまで、時刻で決まる操作は拒否されます',
    ],
  ),
  'time-unknown': risky(
    ['nobody could say whether the clock is synchronized', '時計が同期しているか確認できません'],
    [
      'enable systemd-timesyncd or chrony; until then what depends on the time is refused',
      'systemd-timesyncd か chrony を有効にしてください。それまで、時刻で決まる操作は拒否されます',
    ],
  ),
  'lines-none': risky(
    ['the configuration names no line', '設定に回線がありません'],
    ['add a line with its devices', '回線と機器を設定に加えてください'],
  ),
  'line-tcp': fine(['TCP {address}, timed as {baud} baud', 'TCP {address}({baud} bps 相当)']),
  'port-fine': fine(['{path}, {baud} baud', '{path}(速度 {baud} bps)']),
  'port-absent': broken(
    ['{path} does not exist', '{path} がありません'],
    [
      'plug the adapter in; ls -l /dev/serial/by-id shows what is there',
      '変換器を差してください。つながっているものは ls -l /dev/serial/by-id で分かります',
    ],
  ),
  'port-not-serial': broken(
    ['{path} is not a serial port', '{path} はシリアルポートではありません'],
    ['name a port below /dev/serial/by-id', '/dev/serial/by-id の下のポートを指定してください'],
  ),
  'port-forbidden': broken(
    ['{path} may not be opened', '{path} を開く権限がありません'],
    ['add the gateway’s user to the group dialout', 'ゲートウェイの利用者を dialout グループに加えてください'],
  ),
  'port-name-changes': risky(
    ['{path} may change its name after a reboot', '{path} は再起動で名前が変わることがあります'],
    ['name the port by /dev/serial/by-id', '/dev/serial/by-id の名前で指定してください'],
  ),
  'adapter-fine': fine(['latency timer {ms} ms', '待ち時間 {ms} ミリ秒']),
  'adapter-slow': risky(
    ['latency timer {ms} ms', '待ち時間 {ms} ミリ秒'],
    ['echo 1 > {timer}', '実行してください: echo 1 > {timer}'],
  ),
  'device-plain': risky(
    [
      'address {address} on {line} speaks without encryption: anybody at the line can open its doors',
      'アドレス {address}({line})は暗号化なしです。回線に触れる人なら扉を開けられます',
    ],
    [
      'give it a key: security: secure, then kannuki-gateway install-window',
      '鍵を設定してください。security: secure にし、kannuki-gateway install-window を実行します',
    ],
  ),
  'device-key-installed': fine([
    'address {address}, takes its key by an installation; whether it has one, the gateway knows',
    'アドレス {address}。鍵は設置時に設定します。設定済みかはゲートウェイに尋ねます',
  ]),
  'key-file-fine': fine(['address {address}, key from {path}', 'アドレス {address}、鍵は {path}']),
  'key-file-absent': broken(['key file {path} does not exist', '鍵ファイル {path} がありません'], putDigits),
  'key-file-exposed': broken(
    ['key file {path} can be read by others', '鍵ファイル {path} を他の利用者が読めます'],
    ['chmod 400 {path}', '実行してください: chmod 400 {path}'],
  ),
  'key-file-hidden': risky(['key file {path} may not be read', '鍵ファイル {path} を読む権限がありません'], asGateway),
  'key-file-malformed': broken(
    ['key file {path} holds no key', '鍵ファイル {path} の内容が鍵ではありません'],
    ['put the 32 hexadecimal digits of its key there, and nothing else', '機器の鍵(16進数 32桁)だけを書いてください'],
  ),
} as const satisfies Record<string, FindingRow>;
