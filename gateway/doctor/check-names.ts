/** What the doctor looks at: a stable key, and its name in both languages. Pure. */
import type { Bilingual } from './finding-row.ts';

export const checkNames = {
  'data-folder': ['data folder', 'データフォルダー'],
  'run-folder': ['control sockets', '制御ソケット'],
  'disk-space': ['disk space', 'ディスクの空き'],
  'master-key': ['master key', 'マスターキー'],
  tpm: ['TPM', 'TPM'],
  time: ['time', '時刻'],
  lines: ['lines', '回線'],
  line: ['line', '回線'],
  adapter: ['adapter of line', '変換器(回線)'],
  device: ['device', '機器'],
  gateway: ['gateway', 'ゲートウェイ'],
  facility: ['facility', '施設'],
  clock: ['clock', '時計'],
  journal: ['journal', '履歴'],
  replica: ['replica', '認証情報'],
  storage: ['storage', '記憶装置'],
  cloud: ['cloud', 'クラウド'],
  'feed-key': ['feed key', '配信の鍵'],
  statements: ['statements', 'クラウドからの通知'],
  door: ['door', '扉'],
  reader: ['reader', 'リーダー'],
} as const satisfies Record<string, Bilingual>;

export type Check = keyof typeof checkNames;

export const isCheck = (name: string): name is Check => Object.hasOwn(checkNames, name);
