/** The labels and states of `status`, Japanese and English. Pure. */
import type { Language } from '#shared/code.ts';
import { padColumns } from './columns.ts';

const labels = {
  facility: ['facility', '施設'],
  clock: ['clock', '時計'],
  journal: ['journal', '履歴'],
  replica: ['replica', '認証情報'],
  cloud: ['cloud', 'クラウド'],
  storage: ['storage', '記憶装置'],
  door: ['door', '扉'],
  line: ['line', '回線'],
  device: ['device', '機器'],
} as const;

const words: Readonly<Record<string, string>> = {
  'none yet: kannuki-gateway import': '未登録(kannuki-gateway import)',
  unknown: '不明',
  trusted: '信頼できる',
  holdover: '自走中',
  untrusted: '信頼できない',
  available: '記録できる',
  full: '満杯',
  budget: '上限',
  failed: '異常',
  closed: '終了',
  empty: '未登録',
  live: '有効',
  quarantined: '隔離',
  tampered: '改ざん',
  ok: '正常',
  low: '残りわずか',
  'read-only': '書込不可',
  unreachable: '応答なし',
  open: '接続',
  opening: '接続中',
  missing: '見つからない',
  'not-permitted': '権限なし',
  busy: '使用中',
  lost: '切断',
  'timed-out': '時間切れ',
  online: '稼働',
  offline: '停止',
  connecting: '接続中',
  secure: '暗号化',
  plain: '平文',
  silent: '無応答',
  'line-down': '回線切断',
  'key-mismatch': '鍵の不一致',
  'security-required': '暗号化が必要',
  'identity-changed': '別の機器',
  'protocol-fault': '通信異常',
};

const labelColumns = 10;

/** The label, padded so that what follows it stands in one column. */
export function label(name: keyof typeof labels, language: Language): string {
  return padColumns(labels[name][language === 'ja' ? 1 : 0], labelColumns);
}

/** A state in words; one that has no Japanese stays as it is. */
export const word = (state: string, language: Language): string =>
  language === 'ja' ? (words[state] ?? state) : state;

/** How long it has been so; ages of up to 5 s are now, and nothing is said. */
export function ageWords(ms: number, language: Language): string {
  if (ms <= 5_000) return '';
  const seconds = Math.floor(ms / 1000);
  const [count, en, ja] = unitOf(seconds);
  return language === 'ja' ? ` ・ ${count}${ja}前から` : ` · for ${count} ${en}`;
}

function unitOf(seconds: number): readonly [count: number, en: string, ja: string] {
  if (seconds < 120) return [seconds, 's', '秒'];
  return seconds < 7_200 ? [Math.floor(seconds / 60), 'min', '分'] : [Math.floor(seconds / 3600), 'h', '時間'];
}
