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

const labelColumns = 10;

/** The label, padded so that what follows it stands in one column. */
export function label(name: keyof typeof labels, language: Language): string {
  return padColumns(labels[name][language === 'ja' ? 1 : 0], labelColumns);
}

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
