/**
 * Entries in plain words, Japanese and English: one line a person can read aloud.
 *
 * The same words in the terminal, the demo and the console. Pure. Codes stay visible beside the words, for the manual.
 */
import { type Code, codeText, isCode, type Language } from '#shared/code.ts';
import type { EntryKind } from '../journal/entry.ts';
import type { EntryView } from './entry-view.ts';
import { gateWord } from './gate-marks.ts';
import { stateWord } from './state-words.ts';

type Words = (say: Say) => string;

/** What a sentence may use: names that fall back to ids, and text members of the body. */
interface Say {
  readonly who: string;
  readonly at: string;
  readonly code: string;
  readonly reason: string;
  readonly text: (key: string) => string;
  /** A text that is a state of ours, in the reader’s language. */
  readonly word: (key: string) => string;
  readonly seconds: string;
}

const english: Readonly<Record<EntryKind, Words>> = {
  'gateway.started': (say) => `gateway started, version ${say.text('version')}`,
  'gateway.stopped': () => 'gateway stopped',
  'access.requested': (say) => `${say.at} · ${presentedEn(say.text('presented'))} presented`,
  'access.granted': (say) => `${say.at} · granted to ${say.who}`,
  'access.refused': (say) => `${say.at} · refused${say.who ? ` for ${say.who}` : ''}: ${say.reason}`,
  'access.challenged': (say) => `${say.at} · waits for the PIN of ${say.who}`,
  'access.refusals-counted': (say) => `${say.at} · ${say.text('count')} more refusals`,
  'reads.discarded': (say) => `${say.at} · old reads discarded: ${say.text('count')}`,
  'lock.released': (say) => `${say.at} · released${say.seconds}`,
  'lock.secured': (say) => `${say.at} · secured`,
  'lock.refused': (say) => `${say.at} · the lock refused: ${say.text('reason')}`,
  'lock.not-executed': (say) => `${say.at} · not released: ${say.text('reason')}`,
  'release.unknown': (say) => `${say.at} · nobody knows whether the lock released`,
  'release.interrupted': (say) => `${say.at} · the gateway stopped before the release was known`,
  'door.opened': (say) => `${say.at} · opened`,
  'door.closed': (say) => `${say.at} · closed`,
  'door.state-changed': (say) => `${say.at} · ${gateWord(say.text('to'), 'en')}`,
  'door.mode-changed': (say) => `${say.at} · mode ${say.text('mode')}`,
  'exit.requested': (say) => `${say.at} · exit button`,
  'command.received': (say) => `${say.at} · command ${say.text('command')}`,
  'command.refused': (say) => `${say.at} · command refused: ${say.reason}`,
  'command.done': (say) => `${say.at} · command done ${say.text('command')}`,
  'device.online': (say) => `${say.text('device')} on line (${say.text('channel')})`,
  'device.offline': (say) => `${say.text('device')} off line: ${say.text('reason')}`,
  'device.key-installed': (say) => `${say.text('device')} · key installed`,
  'install-window.opened': (say) => `${say.text('device')} · a key may be installed`,
  'install-window.closed': (say) => `${say.text('device')} · key installation ended`,
  'alarm.raised': (say) => `${say.at} · ALARM: ${say.reason}`,
  'alarm.cleared': (say) => `${say.at} · over: ${say.reason}`,
  'clock.changed': (say) => `clock ${say.text('to')}`,
  'replica.applied': (say) => `facility data ${say.text('epoch')} in force`,
  'journal.gap': () => 'journal: entries were given up to stay in budget',
  'journal.lost': () => 'journal: entries were lost',
  'storage.changed': (say) => `storage ${say.text('storage')}`,
};

const japanese: Readonly<Record<EntryKind, Words>> = {
  'gateway.started': (say) => `ゲートウェイを開始しました(${say.text('version')})`,
  'gateway.stopped': () => 'ゲートウェイを終了しました',
  'access.requested': (say) => `${say.at} ・ ${presentedJa(say.text('presented'))}`,
  'access.granted': (say) => `${say.at} ・ 許可(${say.who})`,
  'access.refused': (say) => `${say.at} ・ 拒否${say.who ? `(${say.who})` : ''}: ${say.reason}`,
  'access.challenged': (say) => `${say.at} ・ 暗証番号を待っています(${say.who})`,
  'access.refusals-counted': (say) => `${say.at} ・ ほか${say.text('count')}件を拒否`,
  'reads.discarded': (say) => `${say.at} ・ 古い読み取り${say.text('count')}件を破棄`,
  'lock.released': (say) => `${say.at} ・ 解錠${say.seconds}`,
  'lock.secured': (say) => `${say.at} ・ 施錠`,
  'lock.refused': (say) => `${say.at} ・ 錠が拒否しました: ${say.word('reason')}`,
  'lock.not-executed': (say) => `${say.at} ・ 解錠しませんでした: ${say.word('reason')}`,
  'release.unknown': (say) => `${say.at} ・ 解錠されたか確認できません`,
  'release.interrupted': (say) => `${say.at} ・ 解錠の結果が分かる前に停止しました`,
  'door.opened': (say) => `${say.at} ・ 開扉`,
  'door.closed': (say) => `${say.at} ・ 閉扉`,
  'door.state-changed': (say) => `${say.at} ・ ${gateWord(say.text('to'), 'ja')}`,
  'door.mode-changed': (say) => `${say.at} ・ モード ${gateWord(say.text('mode'), 'ja')}`,
  'exit.requested': (say) => `${say.at} ・ 退出ボタン`,
  'command.received': (say) => `${say.at} ・ 操作 ${actJa(say.text('command'))}`,
  'command.refused': (say) => `${say.at} ・ 操作を拒否: ${say.reason}`,
  'command.done': (say) => `${say.at} ・ 操作完了 ${actJa(say.text('command'))}`,
  'device.online': (say) => `${say.text('device')} 接続(${say.word('channel')})`,
  'device.offline': (say) => `${say.text('device')} 切断: ${say.word('reason')}`,
  'device.key-installed': (say) => `${say.text('device')} ・ 鍵を設定しました`,
  'install-window.opened': (say) => `${say.text('device')} ・ 鍵の設定を許可しました`,
  'install-window.closed': (say) => `${say.text('device')} ・ 鍵の設定を終了しました`,
  'alarm.raised': (say) => `${say.at} ・ 警報: ${say.reason}`,
  'alarm.cleared': (say) => `${say.at} ・ 復旧: ${say.reason}`,
  'clock.changed': (say) => `時計 ${say.word('to')}`,
  'replica.applied': (say) => `施設情報 ${say.text('epoch')} を適用`,
  'journal.gap': () => '履歴: 上限のため古い記録を手放しました',
  'journal.lost': () => '履歴: 記録が失われました',
  'storage.changed': (say) => `記憶装置 ${say.word('storage')}`,
};

const presentedEn = (kind: string) => (kind === 'pin' ? 'PIN' : kind === 'card-and-pin' ? 'card and PIN' : 'card');
const presentedJa = (kind: string) =>
  kind === 'pin' ? '暗証番号' : kind === 'card-and-pin' ? 'カードと暗証番号' : 'カード';

const actsJa: Readonly<Record<string, string>> = {
  release: '解錠',
  secure: '施錠',
  mode: 'モード',
  import: '取り込み',
  enrol: 'クラウドへの登録を開始',
  enrolled: 'クラウドに登録',
  unenrol: 'クラウドから離脱',
  'read-card': 'カードの読み取り',
  'accept-device': '機器の交換を承認',
  'install-window': '鍵の設定を許可',
  'clock-set': '時刻の設定',
  'area-reset': '現在地の消去',
};

/** What an operator did, such as `mode free`. */
const actJa = (act: string): string =>
  act
    .split(' ')
    .map((word) => actsJa[word] ?? gateWord(word, 'ja'))
    .join(' ');

/** One line, without its time. */
export function entryWords(view: EntryView, language: Language): string {
  const { entry, names } = view;
  const text = (key: string) => {
    const value = entry.body[key];
    return value === undefined || value === null ? '' : String(value);
  };
  const code = text('code');
  const ms = entry.body['ms'];
  const say: Say = {
    who: names.holder ?? text('holder'),
    at: names.door ?? entry.door ?? names.reader ?? subjectOf(text),
    code,
    reason: isCode(code) ? `${reasonText(code, language)} [${code}]` : code,
    text,
    word: (key) => stateWord(text(key), language),
    seconds: typeof ms === 'number' ? secondsText(ms, language) : '',
  };
  return (language === 'ja' ? japanese : english)[entry.kind](say);
}

/** What an entry that belongs to no door is about. */
const subjectOf = (text: Say['text']): string =>
  ['reader', 'device', 'line', 'gateway'].map(text).find((name) => name !== '') ?? '';

const secondsText = (ms: number, language: Language): string =>
  language === 'ja' ? ` ・ ${ms / 1000}秒` : ` · ${ms / 1000} s`;

/** The registry's sentence, fit for the middle of a line. */
const reasonText = (code: Code, language: Language) => codeText(code, language).replace(/[.。]$/, '');
