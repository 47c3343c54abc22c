/** What the commands say, in both languages. */
const english = {
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
