/** What the demonstration itself says, in both languages. What happens at the doors is said by the gateway's own words. */
import type { Language } from '#shared/code.ts';

export interface DemoWords {
  readonly progress: {
    readonly keys: string;
    readonly site: string;
    readonly cloud: string;
    readonly gateway: string;
    readonly people: string;
    readonly enrolment: string;
    readonly replica: string;
    readonly readers: string;
  };
  readonly ready: (facility: string, seconds: number) => string;
  readonly tryNext: readonly (readonly [command: string, what: string])[];
  /** Where to look at the cloud. */
  readonly cloudAt: (url: string, email: string, file: string) => readonly string[];
  readonly link: (isCut: boolean) => string;
  readonly running: (pid: number, dir: string) => string;
  readonly stopping: string;
  readonly partEnded: (part: 'gateway' | 'cloud', how: string, log: string) => string;
}

const english: DemoWords = {
  progress: {
    keys: 'keys and configuration',
    site: 'readers, locks and doors',
    cloud: 'cloud and its database',
    gateway: 'gateway',
    people: 'people, cards and schedules (first start)',
    enrolment: 'the gateway comes in with a code (first start)',
    replica: 'what the doors must know, from the cloud',
    readers: 'secure channels to the readers',
  },
  ready: (facility, seconds) => `${facility} is running (${seconds} s). Ctrl-C ends it.`,
  tryNext: [
    ['npm run swipe -- office aiko', 'a card opens a door'],
    ['npm run swipe -- locker-room tomas tomas:pin', 'a card, then a PIN'],
    ['npm run swipe -- server-room aiko mei', 'a door that wants two people'],
    ['npm run swipe -- office sara', 'a revoked card, and why it is refused'],
    ['npm run cut -- office-reader', 'pull a reader’s cable; "plug" puts it back'],
    ['npm run cut -- --help', 'everything else that can go wrong'],
    ['npm run demo:partition', 'cut the line to the cloud for a minute: doors go on'],
  ],
  cloudAt: (url, email, file) => [`The cloud’s API: ${url}/v1/docs`, `Its operator: ${email}, password in ${file}`],
  link: (isCut) => (isCut ? 'The line to the cloud is cut.' : 'The line to the cloud is whole again.'),
  running: (pid, dir) =>
    `The demonstration already runs here (process ${pid}, folder ${dir}). Stop it first, or give this one --dir <another folder>.`,
  stopping: 'Stopping.',
  partEnded: (part, how, log) => `The ${part} ended by itself (${how}). Its log: ${log}`,
};

const japanese: DemoWords = {
  progress: {
    keys: '鍵と設定',
    site: 'リーダー・錠・扉',
    cloud: 'クラウドとデータベース',
    gateway: 'ゲートウェイ',
    people: '利用者・カード・時間帯(初回のみ)',
    enrolment: 'ゲートウェイの登録(初回のみ)',
    replica: '扉に必要な情報の同期',
    readers: 'リーダーとの暗号通信',
  },
  ready: (facility, seconds) => `${facility} が動いています(${seconds}秒)。Ctrl-C で終了します。`,
  tryNext: [
    ['npm run swipe -- office aiko', 'カードで扉を開ける'],
    ['npm run swipe -- locker-room tomas tomas:pin', 'カードに続けて暗証番号'],
    ['npm run swipe -- server-room aiko mei', '2人そろって開く扉'],
    ['npm run swipe -- office sara', '失効したカードと、拒否の理由'],
    ['npm run cut -- office-reader', 'リーダーの配線を抜く(plug で戻す)'],
    ['npm run cut -- --help', 'そのほかの障害の一覧'],
    ['npm run demo:partition', 'クラウドとの回線を1分間切る(扉は動き続けます)'],
  ],
  cloudAt: (url, email, file) => [`クラウドのAPI:${url}/v1/docs`, `操作者:${email}(パスワードは ${file})`],
  link: (isCut) => (isCut ? 'クラウドとの回線が切れました。' : 'クラウドとの回線が戻りました。'),
  running: (pid, dir) =>
    `デモはすでに動いています(プロセス ${pid}、フォルダー ${dir})。先に終了するか、--dir で別のフォルダーを指定してください。`,
  stopping: '終了します。',
  partEnded: (part, how, log) =>
    `${part === 'cloud' ? 'クラウド' : 'ゲートウェイ'}が終了しました(${how})。ログ: ${log}`,
};

export const demoWords = (language: Language): DemoWords => (language === 'ja' ? japanese : english);
