/** What `import` says, Japanese and English. Pure. */
import type { Language } from '#shared/code.ts';

interface ImportWords {
  readonly givenUp: string;
  readonly note: string;
  readonly nothing: (mistakes: number) => string;
  readonly pins: (progress: string) => string;
  readonly would: (counts: string) => string;
  readonly inForce: (epoch: number, counts: string) => string;
  readonly counted: (counts: Readonly<Record<string, number>>) => string;
}

const japaneseKinds: Readonly<Record<string, string>> = {
  doors: '扉',
  readers: 'リーダー',
  holders: '利用者',
  credentials: '認証情報',
  grants: '権限',
  schedules: '時間帯',
  holidays: '祝日',
};

export const importWords: Readonly<Record<Language, ImportWords>> = {
  en: {
    givenUp: 'The import was given up. Unless it was just complete, what was in force before still is.',
    note: 'note',
    nothing: (mistakes) => `Nothing was imported: ${mistakes === 1 ? 'one mistake' : `${mistakes} mistakes`}.`,
    pins: (progress) => progress,
    would: (counts) => `Would import: ${counts}.`,
    inForce: (epoch, counts) => `In force as epoch ${epoch}: ${counts}.`,
    counted: (counts) =>
      Object.entries(counts)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', '),
  },
  ja: {
    givenUp: '取り込みを中止しました。ちょうど完了したところでなければ、以前の内容のままです。',
    note: '注意',
    nothing: (mistakes) => `誤りが ${mistakes} 件あるため、取り込みませんでした。`,
    pins: (progress) => progress.replace(/^PINs: (\d+) of (\d+)$/, '暗証番号: $1/$2'),
    would: (counts) => `取り込める内容: ${counts}。`,
    inForce: (epoch, counts) => `世代 ${epoch} として有効になりました: ${counts}。`,
    counted: (counts) =>
      Object.entries(counts)
        .map(([kind, count]) => `${japaneseKinds[kind] ?? kind} ${count}`)
        .join('、'),
  },
};
