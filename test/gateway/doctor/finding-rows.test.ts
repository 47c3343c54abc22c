import { describe, expect, test } from 'vitest';
import { checkNames } from '#gateway/doctor/check-names.ts';
import { type FindingCode, finding, findingRows, findingText } from '#gateway/doctor/finding.ts';
import type { FindingRow } from '#gateway/doctor/finding-row.ts';

const isJapanese = (text: string) => /[ぁ-んァ-ヶ一-龠]/.test(text);
const holesOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, hole]) => hole).sort();
const withoutHoles = (text: string) => text.replaceAll(/\{\w+\}/g, '');

describe.each(Object.entries<FindingRow>(findingRows))('the finding %s', (code, { state, says, remedy }) => {
  test('says the same in Japanese and in English', () => {
    for (const [en, ja] of [says, remedy]) {
      expect(holesOf(ja)).toEqual(holesOf(en));
      // Where a sentence is only what was found there is nothing to translate.
      const isAllFound = !/\p{Letter}/u.test(withoutHoles(en));
      expect(isAllFound || isJapanese(withoutHoles(ja))).toBe(true);
      expect(withoutHoles(en)).not.toMatch(/[^\x20-\x7e’]/);
    }
  });

  test('has a remedy where something is broken', () => {
    if (state === 'fail') expect(remedy).not.toEqual(['', '']);
    expect(remedy[0] === '').toBe(remedy[1] === '');
  });

  test('leaves no hole open', () => {
    const filled = finding(['line', 'bus'], code as FindingCode, new Proxy({}, { get: () => 'found' }) as never);
    for (const language of ['en', 'ja'] as const) expect(findingText(filled, language)).not.toMatch(/[{}]/);
  });
});

test('whatever is looked at has a name in both languages', () => {
  for (const [en, ja] of Object.values(checkNames)) {
    expect(en).toMatch(/^[\x20-\x7e]+$/);
    expect(isJapanese(ja) || ja === en).toBe(true);
  }
});
