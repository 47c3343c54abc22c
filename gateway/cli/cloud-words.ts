/** The way to the cloud in plain words, Japanese and English. Pure. */
import type { Language } from '#shared/code.ts';
import { printable } from '#shared/printable.ts';
import type { CloudStatus } from '../control/sync-replies.ts';
import { ageWords } from './status-words.ts';

const states: Readonly<Record<string, readonly [en: string, ja: string]>> = {
  silent: ['no edge process runs', '中継プロセスが動いていません'],
  starting: ['connecting', '接続中'],
  online: ['online', '接続'],
  dns: ['its name does not resolve', '名前を解決できません'],
  unreachable: ['unreachable', '応答なし'],
  tls: ['its certificate is refused', '証明書を検証できません'],
  'captive-portal': ['somebody else answers (captive portal)', '別のサーバーが応答しています'],
  'clock-skewed': ['this clock is not the cloud’s', '時計がずれています'],
  unauthorized: ['does not know this gateway', '認証されません'],
  revoked: ['has put this gateway out of service', '使用停止にされています'],
  busy: ['asks to wait', '混雑しています'],
  'cloud-fault': ['has a fault', 'クラウド側の障害'],
  malformed: ['answers nonsense', '不正な応答'],
};

export function uplinkWords({ uplink, uplinkDetail }: CloudStatus, language: Language): string {
  const [en, ja] = states[uplink] ?? [uplink, uplink];
  const detail = uplinkDetail === '' ? '' : ` (${printable(uplinkDetail)})`;
  return `${language === 'ja' ? ja : en}${detail}`;
}

export function cloudText(cloud: CloudStatus, language: Language): string {
  const { gateway, cursor, lag, entriesBehind, uplinkForMs } = cloud;
  const words = uplinkWords(cloud, language) + ageWords(uplinkForMs, language);
  const behind =
    language === 'ja'
      ? `位置 ${cursor}(残り ${lag})・未送信 ${entriesBehind}件`
      : `at ${cursor}, ${lag} to come · ${entriesBehind} entries to send`;
  return `${gateway} · ${words} · ${behind} · ${contactWords(cloud, language)}`;
}

function contactWords({ contactAgeMs }: CloudStatus, language: Language): string {
  if (contactAgeMs === 'unknown') return language === 'ja' ? '接触なし' : 'no verified contact';
  const seconds = Math.floor(contactAgeMs / 1_000);
  return language === 'ja' ? `最終接触 ${seconds}秒前` : `last contact ${seconds} s ago`;
}
