/** What the doctor says of a running gateway, its devices, its doors and its cloud. Pure. */
import { broken, type FindingRow, fine, risky } from './finding-row.ts';

export const runningRows = {
  'gateway-absent': risky(
    ['does not run', '動いていません'],
    ['start it: kannuki-gateway door', '起動してください: kannuki-gateway door'],
  ),
  'gateway-silent': broken(
    ['does not answer', '応答しません'],
    ['look at its log; restart it', 'ログを確認し、再起動してください'],
  ),
  'gateway-forbidden': risky(
    ['its socket may not be opened', 'ソケットを開く権限がありません'],
    [
      'run this as root, or as a user in the group of its socket',
      'root か、ソケットのグループに属する利用者で実行してください',
    ],
  ),
  'gateway-runs': fine(['runs, version {version}', '動いています(版 {version})']),
  'gateway-waits': broken(
    ['runs, and waits: {why} [{code}]', '起動しましたが、待っています: {why} [{code}]'],
    ['{remedy}', '{remedy}'],
  ),
  'facility-known': fine(['{name} ({zone})', '{name}({zone})']),
  'facility-none': risky(
    ['none imported yet', 'まだ取り込まれていません'],
    ['kannuki-gateway import', '取り込んでください: kannuki-gateway import'],
  ),
  'clock-fine': fine(['{state}', '{state}']),
  'journal-fine': fine(['{entries} entries', '{entries} 件']),
  'replica-fine': fine(['epoch {epoch}', '世代 {epoch}']),
  'storage-fine': fine(['{how}', '{how}']),
  'line-open': fine(['open', '接続']),
  'line-closed': broken(
    ['{state}: {detail}', '{state}: {detail}'],
    ['see what is said of its port above', '上のポートの項目を見てください'],
  ),
  'device-online': fine(['on line, {channel}', '稼働({channel})']),
  'device-needs-key': broken(
    ['{how}', '{how}'],
    [
      'it has no key yet: kannuki-gateway install-window {device}, or name its keyFile in the configuration',
      '鍵がまだありません。kannuki-gateway install-window {device} を実行するか、設定の keyFile で指定してください',
    ],
  ),
  'device-line-down': broken(['{how}', '{how}'], ['see the line above', '上の回線の項目を見てください']),
  'device-keyless': broken(
    ['{how}', '{how}'],
    [
      'no key yet: kannuki-gateway install-window {device}. If it stays silent, see its wires.',
      '鍵がまだありません。kannuki-gateway install-window {device} を実行してください。応答しなければ配線を確認してください',
    ],
  ),
  'device-silent': broken(
    ['{how}', '{how}'],
    [
      'Check its cable and power. Silent at every rate: swap the wires A and B. kannuki-gateway discover looks for it.',
      '配線と電源を確認してください。どの速度でも応答しなければ A線とB線を入れ替えます。kannuki-gateway discover で探せます',
    ],
  ),
  'door-stranger': broken(
    ['its device {device} is on no line of the configuration', '機器 {device} は設定のどの回線にもありません'],
    [
      'add {device} to the devices of a line, or correct its name in the facility and import it',
      '{device} を回線の機器に加えるか、施設の名前を直して取り込み直してください',
    ],
  ),
  'door-unknown': broken(
    ['nobody knows how it stands', '状態が分かりません'],
    ['see what is said of its devices above', '上の機器の項目を見てください'],
  ),
  'door-lock-at-reader': risky(
    [
      'its lock hangs on the output of reader {device}: whoever opens that reader from outside can open the door',
      '錠がリーダー {device} の出力につながっています。外側でリーダーを開けられると、扉も開けられます',
    ],
    [
      'put the lock on an output inside the secured area, or see that this reader is inside',
      '錠を室内側の出力につなぐか、このリーダーが室内側にあることを確認してください',
    ],
  ),
  'cloud-online': fine([
    'online, at {cursor}, {lag} to come, {behind} entries to send',
    '接続、位置 {cursor}(残り {lag})、未送信 {behind} 件',
  ]),
  'cloud-starting': risky(['{how}', '{how}'], ['ask again in a moment', '少し待ってからもう一度実行してください']),
  'cloud-silent': broken(
    ['{how}', '{how}'],
    [
      'start it: kannuki-gateway edge (unit kannuki-edge)',
      '起動してください: kannuki-gateway edge(ユニット kannuki-edge)',
    ],
  ),
  'cloud-dns': broken(
    ['{how}', '{how}'],
    [
      'check the name in cloud.url and this machine’s resolver',
      'cloud.url の名前と、この機械の名前解決を確認してください',
    ],
  ),
  'cloud-unreachable': broken(
    ['{how}', '{how}'],
    [
      'check the network, the address in cloud.url and any firewall',
      'ネットワーク、cloud.url のアドレス、ファイアウォールを確認してください',
    ],
  ),
  'cloud-tls': broken(
    ['{how}', '{how}'],
    [
      'check the certificate of the cloud; where it is of your own authority, name it in cloud.caFile',
      'クラウドの証明書を確認してください。自前の認証局なら cloud.caFile で指定します',
    ],
  ),
  'cloud-captive-portal': broken(
    ['{how}', '{how}'],
    ['sign this network in, or use another one', 'ネットワークにログインするか、別の回線を使ってください'],
  ),
  'cloud-clock-skewed': broken(
    ['{how}', '{how}'],
    [
      'nothing, if it passes by itself; otherwise set this machine’s clock',
      '自然に直らなければ、この機械の時計を合わせてください',
    ],
  ),
  'cloud-unauthorized': broken(
    ['{how}', '{how}'],
    [
      'ask an operator whether this gateway is confirmed; otherwise enrol it again',
      'クラウド側で承認済みか確認してください。未登録なら登録し直してください',
    ],
  ),
  'cloud-revoked': broken(
    ['{how}', '{how}'],
    ['enrol it again with a new code, if it should be in service', '使う場合は、新しいコードで登録し直してください'],
  ),
  'cloud-fault': broken(
    ['{how}', '{how}'],
    ['see the log of the edge process', '中継プロセスのログを確認してください'],
  ),
  'feed-key-fine': fine(['serial {serial}, until {until}', '番号 {serial}、{until} まで']),
  'feed-key-ends-soon': risky(
    ['serial {serial}, until {until}', '番号 {serial}、{until} まで'],
    [
      'the cloud’s operator should certify a new feed key soon',
      'クラウドの運用者に、新しい配信の鍵の発行を依頼してください',
    ],
  ),
  'feed-key-ended': broken(
    ['serial {serial}, until {until}: it has ended', '番号 {serial}、{until} で期限切れです'],
    [
      'the cloud’s operator must certify a new feed key',
      'クラウドの運用者に、新しい配信の鍵を発行してもらってください',
    ],
  ),
  'statements-refused': broken(
    ['refused as not the cloud’s: {reasons}', 'クラウドのものではないため拒否しました: {reasons}'],
    ['look at the edge process and the network', '中継プロセスとネットワークを調べてください'],
  ),
} as const satisfies Record<string, FindingRow>;
