/** One line of a check-up: what was looked at, how it is, and what to do about it, in both languages. */
import { type Code, codeRemedy, codeText, type Language } from '#shared/code.ts';
import { type Check, checkNames } from './check-names.ts';
import { type Bilingual, type FindingRow, fill, type Holes } from './finding-row.ts';
import { machineRows } from './machine-rows.ts';
import { runningRows } from './running-rows.ts';

/** Everything the doctor can find that the registry of codes does not name. */
export const findingRows = { ...machineRows, ...runningRows } as const satisfies Record<string, FindingRow>;

export type FindingCode = keyof typeof findingRows;

/** What was looked at, and which one where there are several: a line, a device, a door. */
export type About = readonly [check: Check, subject?: string];

export interface DoctorFinding {
  readonly check: Check;
  /** Empty where there is only one. */
  readonly subject: string;
  readonly state: FindingRow['state'];
  /** Stable, for programs: a row of ours, or a code of the registry. */
  readonly code: FindingCode | Code;
  readonly detail: Bilingual;
  /** Empty where nothing needs doing. */
  readonly remedy: Bilingual;
}

/** What fills a hole; a pair where it is words. */
type Filling = string | number | Bilingual;

/** A finding of our own tables. */
export function finding<Of extends FindingCode>(
  [check, subject = '']: About,
  code: Of,
  values: Readonly<Record<Holes<(typeof findingRows)[Of]>, Filling>>,
): DoctorFinding {
  const { state, says, remedy }: FindingRow = findingRows[code];
  const filled = (texts: Bilingual) => inBoth((language) => fill(textIn(texts, language), valueIn(values, language)));
  return { check, subject, state, code, detail: filled(says), remedy: filled(remedy) };
}

/** A finding that the registry of codes tells. @param detail what stands instead of the code's own sentence. */
export function codedFinding([check, subject = '']: About, state: 'warn' | 'fail', code: Code, detail?: Bilingual) {
  const said = inBoth((language) => codeText(code, language));
  const remedy = inBoth((language) => codeRemedy(code, language));
  return { check, subject, state, code, detail: detail ?? said, remedy } satisfies DoctorFinding;
}

const marks = { ok: '✓', warn: '!', fail: '✗' } as const;
const states = { ok: ['ok  ', '正常'], warn: ['warn', '注意'], fail: ['fail', '異常'] } as const;

/** As a person reads it: one line, and one more where something can be done. */
export function findingText({ check, subject, state, detail, remedy }: DoctorFinding, language: Language): string {
  const say = (texts: Bilingual) => textIn(texts, language);
  const name = subject === '' ? say(checkNames[check]) : `${say(checkNames[check])} ${subject}`;
  const line = `${marks[state]} ${say(states[state])} ${name}: ${say(detail)}`;
  return say(remedy) === '' ? line : `${line}\n         → ${say(remedy)}`;
}

/** As a program reads it: the keys and the code stay, the sentences are in the language asked for. */
export function findingJson({ detail, remedy, ...keys }: DoctorFinding, language: Language) {
  return { ...keys, detail: textIn(detail, language), remedy: textIn(remedy, language) };
}

export const textIn = ([en, ja]: Bilingual, language: Language): string => (language === 'ja' ? ja : en);

export const inBoth = (say: (language: Language) => string): Bilingual => [say('en'), say('ja')];

const valueIn = (values: Readonly<Record<string, Filling>>, language: Language) => (hole: string) => {
  const value = values[hole] ?? '';
  return typeof value === 'object' ? textIn(value, language) : String(value);
};
