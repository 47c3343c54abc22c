/** What `enroll` says, Japanese and English. Pure. */
import type { Language } from '#shared/code.ts';

interface EnrolWords {
  readonly compare: (fingerprint: string) => readonly string[];
  readonly enrolled: (facility: string) => string;
}

/** In groups of four, as people compare them. */
const grouped = (fingerprint: string): string => (fingerprint.match(/.{1,4}/g) ?? []).join(' ');

export const enrolWords: Readonly<Record<Language, EnrolWords>> = {
  en: {
    compare: (fingerprint) => [
      'Fingerprint of this gateway:',
      `  ${grouped(fingerprint)}`,
      'Compare it in the cloud and confirm it there. Waiting …',
    ],
    enrolled: (facility) => `Enrolled in ${facility}. Its doors and credentials arrive by themselves.`,
  },
  ja: {
    compare: (fingerprint) => [
      'このゲートウェイのフィンガープリント:',
      `  ${grouped(fingerprint)}`,
      'クラウドの表示と比べて承認してください。待っています…',
    ],
    enrolled: (facility) => `${facility} に登録しました。扉と認証情報は自動的に届きます。`,
  },
};
