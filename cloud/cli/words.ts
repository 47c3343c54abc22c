/** What the commands say, in both languages. */
const english = {
  summaries: {
    run: 'serve the API and the gateways',
    migrate: 'bring the database to this version',
    'create-owner': 'make an organization, a facility and its owner',
    'enroll-code': 'make a code by which one gateway may come in',
    gateways: 'how far each gateway is behind, and when it was heard of',
    'verify-audit': 'prove that what was done was not rewritten',
    doctor: 'check everything that an operator would ask',
  },
  help: 'Every command takes --config FILE, --language en|ja, --json where a program may read, and --help.',
  unknown: (name: string) => `there is no command "${name}"`,
  serving: (url: string) => `serving on ${url}`,
  goingDown: 'going down',
  migrated: (version: number, applied: readonly string[]) =>
    applied.length === 0
      ? `the database is at ${version}`
      : `the database is at ${version}, after ${applied.join(', ')}`,
  ownerMade: 'owner',
  organization: 'organization',
  facility: 'facility',
  password: 'password (shown this once)',
  knownPassword: 'the password they have',
  noFacility: 'there is no facility',
  noGateway: 'no gateway yet: kannuki-cloud enroll-code NAME',
  codeUntil: (at: string) => `good for one gateway until ${at}`,
  neverSeen: 'never seen',
  lastSeen: 'last seen',
  fingerprint: 'fingerprint',
  feed: 'feed',
  lag: 'behind by',
  history: 'history',
  chainWhole: (facility: string, seq: number, hash: string) => `✓ ${facility}: ${seq} events, head ${hash}`,
  chainBroken: (facility: string, seq: number, fault: string) => `✗ ${facility}: event ${seq} ${fault}`,
};

const japanese: typeof english = {
  summaries: {
    run: 'API とゲートウェイの受け付けを開始',
    migrate: 'データベースをこの版に更新',
    'create-owner': '組織・施設・所有者を作成',
    'enroll-code': 'ゲートウェイを1台登録するためのコードを発行',
    gateways: '各ゲートウェイの遅れと最終応答',
    'verify-audit': '操作の記録が書き換えられていないことを検証',
    doctor: '運用に必要な点をすべて点検',
  },
  help: '共通のオプション: --config FILE、--language en|ja、--json(プログラム向け)、--help',
  unknown: (name) => `コマンド「${name}」はありません`,
  serving: (url) => `${url} で受け付けています`,
  goingDown: '停止します',
  migrated: (version, applied) =>
    applied.length === 0
      ? `データベースは版 ${version} です`
      : `データベースを版 ${version} にしました: ${applied.join('、')}`,
  ownerMade: '所有者',
  organization: '組織',
  facility: '施設',
  password: 'パスワード(表示は今回のみ)',
  knownPassword: '登録済みのパスワードのまま',
  noFacility: '施設がありません',
  noGateway: 'ゲートウェイがまだありません: kannuki-cloud enroll-code 名前',
  codeUntil: (at) => `${at} まで、1台だけ登録できます`,
  neverSeen: '応答なし',
  lastSeen: '最終応答',
  fingerprint: '指紋',
  feed: '配信',
  lag: '遅れ',
  history: '履歴',
  chainWhole: (facility, seq, hash) => `✓ ${facility}: ${seq} 件、先頭 ${hash}`,
  chainBroken: (facility, seq, fault) => `✗ ${facility}: ${seq} 件目 ${fault}`,
};

export const words = { en: english, ja: japanese } as const;
