/** What the demonstration itself says, in both languages. What happens at the doors is said by the gateway's own words. */
import type { Language } from '#shared/code.ts';

export interface DemoWords {
  readonly progress: {
    readonly keys: string;
    readonly site: string;
    readonly gateway: string;
    readonly import: string;
    readonly readers: string;
  };
  readonly ready: (facility: string, seconds: number) => string;
  readonly tryNext: readonly (readonly [command: string, what: string])[];
  readonly running: (pid: number, dir: string) => string;
  readonly stopping: string;
  readonly gatewayEnded: (how: string, log: string) => string;
}

const english: DemoWords = {
  progress: {
    keys: 'keys and configuration',
    site: 'readers, locks and doors',
    gateway: 'gateway',
    import: 'people, cards and schedules (first start)',
    readers: 'secure channels to the readers',
  },
  ready: (facility, seconds) => `${facility} is running (${seconds} s). Ctrl-C ends it.`,
  tryNext: [
    ['npm run swipe -- office aiko', 'a card opens a door'],
    ['npm run swipe -- locker-room tomas 4471', 'a card, then a PIN'],
    ['npm run swipe -- server-room aiko mei', 'a door that wants two people'],
    ['npm run swipe -- office sara', 'a revoked card, and why it is refused'],
    ['npm run cut -- office-reader', 'pull a reader’s cable; "plug" puts it back'],
    ['npm run cut -- --help', 'everything else that can go wrong'],
  ],
  running: (pid, dir) =>
    `The demonstration already runs here (process ${pid}, folder ${dir}). Stop it first, or give this one --dir <another folder>.`,
  stopping: 'Stopping.',
  gatewayEnded: (how, log) => `The gateway ended by itself (${how}). Its log: ${log}`,
};

const japanese: DemoWords = {
  progress: {
    keys: '鍵と設定',
    site: 'リーダー・錠・扉',
    gateway: 'ゲートウェイ',
    import: '利用者・カード・時間帯(初回のみ)',
    readers: 'リーダーとの暗号通信',
  },
  ready: (facility, seconds) => `${facility} が動いています(${seconds}秒)。Ctrl-C で終了します。`,
  tryNext: [
    ['npm run swipe -- office aiko', 'カードで扉を開ける'],
    ['npm run swipe -- locker-room tomas 4471', 'カードに続けて暗証番号'],
    ['npm run swipe -- server-room aiko mei', '2人そろって開く扉'],
    ['npm run swipe -- office sara', '失効したカードと、拒否の理由'],
    ['npm run cut -- office-reader', 'リーダーの配線を抜く(plug で戻す)'],
    ['npm run cut -- --help', 'そのほかの障害の一覧'],
  ],
  running: (pid, dir) =>
    `デモはすでに動いています(プロセス ${pid}、フォルダー ${dir})。先に終了するか、--dir で別のフォルダーを指定してください。`,
  stopping: '終了します。',
  gatewayEnded: (how, log) => `ゲートウェイが終了しました(${how})。ログ: ${log}`,
};

export const demoWords = (language: Language): DemoWords => (language === 'ja' ? japanese : english);
