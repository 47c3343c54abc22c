/** What `verify-journal` says, Japanese and English. Pure. */
import type { Language } from '#shared/code.ts';
import type { JournalVerdict } from '../journal/verify-journal.ts';

type Broken = Extract<JournalVerdict, { kind: 'broken' }>;
type Whole = Extract<JournalVerdict, { kind: 'whole' }>;
type BeginsAnew = NonNullable<Whole['beginsAnew']>;

interface VerdictWords {
  readonly broken: (verdict: Broken) => string;
  readonly counts: (verdict: Whole) => string;
  readonly whole: (counts: string) => string;
  readonly beginsAnew: (begin: BeginsAnew, counts: string) => string;
}

const japaneseReasons: Readonly<Record<Broken['reason'], string>> = {
  missing: '記録がありません',
  edited: '書き換えられています',
  'link-broken': '前の記録とつながりません',
  'head-forged': '署名が別の鍵によるものです',
  'head-differs': '署名された内容と異なります',
  'boundary-unexplained': 'それより前の記録が、理由なく失われています',
  'personal-edited': '個人情報が書き換えられています',
  truncated: '末尾が失われています',
  rewritten: '別に控えた署名と異なります',
  'rolled-back': '別に控えた署名より前で終わっています',
};

const words: Readonly<Record<Language, VerdictWords>> = {
  en: {
    broken: ({ reason, at }) => `✗ The history was changed: ${reason} at entry ${at.epoch}/${at.seq}.`,
    counts: ({ entries, heads, unsigned }) =>
      `${entries} entries, ${heads} signed heads, ${unsigned} entries since the last`,
    whole: (counts) => `✓ The history is whole: ${counts}.`,
    beginsAnew: ({ epoch, aside }, counts) => {
      const before = aside.length > 0 ? `was set aside as ${aside.join(', ')}` : 'is gone';
      return `✗ Entries are missing: the history begins anew at epoch ${epoch}, and what was before ${before}. From there it is whole: ${counts}.`;
    },
  },
  ja: {
    broken: ({ reason, at }) =>
      `✗ 履歴が改ざんされています。${at.epoch}/${at.seq} 番の記録: ${japaneseReasons[reason]}。`,
    counts: ({ entries, heads, unsigned }) => `記録 ${entries} 件、署名 ${heads} 件、最後の署名以降 ${unsigned} 件`,
    whole: (counts) => `✓ 履歴に欠落や改ざんはありません(${counts})。`,
    beginsAnew: ({ epoch, aside }, counts) => {
      const before = aside.length > 0 ? `${aside.join('、')} に退避されています` : '失われています';
      return `✗ 記録が欠けています。履歴は世代 ${epoch} から始まり、それより前は${before}。以降に欠落や改ざんはありません(${counts})。`;
    },
  },
};

export function verdictText(verdict: JournalVerdict, language: Language): string {
  const say = words[language];
  if (verdict.kind === 'broken') return say.broken(verdict);
  const counts = say.counts(verdict);
  return verdict.beginsAnew === undefined ? say.whole(counts) : say.beginsAnew(verdict.beginsAnew, counts);
}
