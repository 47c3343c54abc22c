/**
 * An explanation in plain words, Japanese and English: what each rule asks, and what was known. Pure.
 *
 * Rules and facts have stable keys; the codes of a rule stay visible beside its words, for the manual.
 */
import { codeText, isCode, type Language } from '#shared/code.ts';
import { gateWord } from './gate-marks.ts';
import { stateWord } from './state-words.ts';

type Bilingual = readonly [en: string, ja: string];

/** What each rule wants to be so, by its codes as an explanation names it. */
export const ruleNames: Readonly<Record<string, Bilingual>> = {
  REQUEST_STALE: ['the request is fresh', '要求が新しい'],
  DOOR_UNKNOWN: ['the reader belongs to a door', 'リーダーに扉が割り当てられている'],
  JOURNAL_UNAVAILABLE: ['the journal takes entries', '履歴を記録できる'],
  'READER_LOCKED_OUT, PIN_BUSY': ['the reader takes PINs', 'リーダーで暗証番号を照合できる'],
  CREDENTIAL_MALFORMED: ['what was read is well-formed', '読み取った内容の形式が正しい'],
  CREDENTIAL_UNKNOWN: ['the credential is known', '認証情報が登録されている'],
  CREDENTIAL_TAMPERED: ['what is stored is genuine', '保存された情報が改ざんされていない'],
  'CREDENTIAL_REVOKED, CREDENTIAL_SUSPENDED': ['it is neither revoked nor suspended', '失効・停止していない'],
  'FIRE_ACTIVE, DOOR_LOCKED_DOWN': ['neither fire nor lockdown', '火災・緊急施錠ではない'],
  CLOCK_UNTRUSTED: ['the time is known where it counts', '必要な場合に時刻が確か'],
  'CREDENTIAL_NOT_YET_VALID, CREDENTIAL_EXPIRED': ['it is valid now', '有効期間内である'],
  REPLICA_STALE: ['what is known is recent enough', '手元の情報が十分に新しい'],
  DOOR_NOT_GRANTED: ['it has a grant for this door', 'この扉の権限がある'],
  OUTSIDE_SCHEDULE: ['the grant applies at this time', '許可された時間帯である'],
  'SECOND_FACTOR_REQUIRED, SECOND_FACTOR_WRONG': ['the PIN, where one is asked for', '必要な暗証番号が正しい'],
  USES_EXHAUSTED: ['uses are left', '使用回数が残っている'],
  ANTI_PASSBACK: ['anti-passback', 'アンチパスバックに反しない'],
  'FIRST_PERSON_REQUIRED, ESCORT_REQUIRED': ['first person and escort', '先に入る人・もう一人がそろっている'],
  INTERLOCK: ['no other door of the interlock stands in the way', '連動する扉が妨げていない'],
  LOCK_UNREACHABLE: ['the lock answers', '錠が応答する'],
};

/** What a rule wants to be so. */
export function ruleName(rule: string, language: Language): string {
  const [en, ja] = ruleNames[rule] ?? [rule, rule];
  return language === 'ja' ? ja : en;
}

/** How a fact’s value is read: as it is, as a word of ours or of a door, as a moment or moments, as a length in ms, as a code. */
type Form = 'plain' | 'word' | 'gate' | 'time' | 'times' | 'span' | 'code';

const fact = (form: Form, en: string, ja: string) => ({ form, en, ja }) as const;

/** Everything an explanation may state. */
export const factNames = {
  at: fact('time', 'time', '時刻'),
  clock: fact('word', 'clock', '時計'),
  clockErrorMs: fact('span', 'clock error', '時計の誤差'),
  door: fact('plain', 'door', '扉'),
  mode: fact('gate', 'mode', 'モード'),
  lock: fact('word', 'lock', '錠'),
  credential: fact('plain', 'credential', '認証情報'),
  credentialState: fact('word', 'its state', '認証情報の状態'),
  credentialVersion: fact('plain', 'its version', '認証情報の版'),
  holder: fact('plain', 'holder', '利用者'),
  grant: fact('plain', 'grant', '権限'),
  grantVersion: fact('plain', 'its version', '権限の版'),
  grants: fact('plain', 'grants here', 'この扉の権限'),
  schedule: fact('plain', 'schedule', '時間帯'),
  window: fact('times', 'window', '許可された時間'),
  flags: fact('word', 'with', '付記'),
  ms: fact('span', 'released for', '解錠時間'),
  detail: fact('plain', 'detail', '詳細'),
  isDuress: fact('word', 'duress', '脅迫時用'),
  ageMs: fact('span', 'age of the request', '要求からの時間'),
  replica: fact('word', 'replica', '手元の情報'),
  replicaEpoch: fact('plain', 'its epoch', '情報の世代'),
  replicaCursor: fact('plain', 'its place', '情報の位置'),
  contactAgeMs: fact('span', 'since last contact', '最終接触から'),
  leaseMs: fact('span', 'lease', '猶予'),
  journal: fact('word', 'journal', '履歴'),
  alsoInTheWay: fact('code', 'also in the way', 'ほかの理由'),
  nextInForce: fact('time', 'next in force', '次に有効になる時刻'),
} as const satisfies Record<string, { readonly form: Form } & Readonly<Record<Language, string>>>;

export type FactName = keyof typeof factNames;

/** @param timeText how a moment is written where the reader stands. */
export function factText(
  { name, value }: { readonly name: string; readonly value: unknown },
  language: Language,
  timeText: (at: number) => string,
): readonly [label: string, text: string] {
  const known = Object.hasOwn(factNames, name) ? factNames[name as FactName] : undefined;
  if (known === undefined) return [name, JSON.stringify(value)];
  const items = Array.isArray(value) ? value : [value];
  const texts = items.map((item: unknown) => itemText(known.form, item, { language, timeText }));
  const joint = known.form === 'times' ? (language === 'ja' ? '〜' : ' – ') : language === 'ja' ? '、' : ', ';
  return [known[language], texts.length === 0 ? stateWord('none', language) : texts.join(joint)];
}

interface Reader {
  readonly language: Language;
  readonly timeText: (at: number) => string;
}

function itemText(form: Form, item: unknown, { language, timeText }: Reader): string {
  if (item === null || item === 'unknown') return stateWord('unknown', language);
  if ((form === 'time' || form === 'times') && typeof item === 'number') return timeText(item);
  if (form === 'span' && typeof item === 'number') return spanText(item, language);
  const text = String(item);
  if (form === 'gate') return gateWord(text, language);
  if (form === 'code' && isCode(text)) return `${codeText(text, language)} [${text}]`;
  return form === 'plain' && text !== 'none' ? text : stateWord(text, language);
}

const spanUnits = [
  [86_400_000, 'd', '日'],
  [3_600_000, 'h', '時間'],
  [60_000, 'min', '分'],
  [1_000, 's', '秒'],
] as const;

/** A length in the largest unit of which it has two or more, rounded; below two seconds in ms. */
function spanText(ms: number, language: Language): string {
  const [size, en, ja] = spanUnits.find(([unit]) => ms >= 2 * unit) ?? ([1, 'ms', 'ミリ秒'] as const);
  const count = Math.round(ms / size);
  return language === 'ja' ? `${count}${ja}` : `${count} ${en}`;
}
