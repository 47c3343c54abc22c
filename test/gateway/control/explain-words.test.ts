import { describe, expect, test } from 'vitest';
import { factNames, factText, ruleName, ruleNames } from '#gateway/control/explain-words.ts';
import { accessRules } from '#gateway/door/decide-access.ts';

const isJapanese = (text: string) => /[ぁ-んァ-ヶ一-龠]/.test(text);
const at = (moment: number) => `<${moment}>`;

describe('an explanation', () => {
  test('names every rule in both languages, and no rule that is none', () => {
    const rules = accessRules.map(({ codes }) => codes.join(', '));
    expect(Object.keys(ruleNames).toSorted()).toEqual(rules.toSorted());
    for (const rule of rules) {
      expect(ruleName(rule, 'en')).toMatch(/^[\x20-\x7e]+$/);
      expect(isJapanese(ruleName(rule, 'ja'))).toBe(true);
    }
  });

  test('names every fact in both languages', () => {
    for (const { en, ja } of Object.values(factNames)) {
      expect(en).toMatch(/^[\x20-\x7e]+$/);
      expect(isJapanese(ja)).toBe(true);
    }
  });

  test.each<[name: string, value: unknown, en: readonly string[], ja: readonly string[]]>([
    ['at', 5, ['time', '<5>'], ['時刻', '<5>']],
    ['at', 'unknown', ['time', 'unknown'], ['時刻', '不明']],
    ['window', [5, 9], ['window', '<5> – <9>'], ['許可された時間', '<5>〜<9>']],
    ['mode', 'lockdown', ['mode', 'lockdown'], ['モード', '緊急施錠']],
    ['flags', [], ['with', 'none'], ['付記', 'なし']],
    ['flags', ['duress', 'first_in'], ['with', 'duress, first_in'], ['付記', '脅迫時用、最初の入室']],
    ['ageMs', 1_999, ['age of the request', '1999 ms'], ['要求からの時間', '1999ミリ秒']],
    ['leaseMs', 172_800_000, ['lease', '2 d'], ['猶予', '2日']],
    ['contactAgeMs', 180_000, ['since last contact', '3 min'], ['最終接触から', '3分']],
    ['contactAgeMs', null, ['since last contact', 'unknown'], ['最終接触から', '不明']],
    ['door', 'none', ['door', 'none'], ['扉', 'なし']],
    ['holder', 'Active', ['holder', 'Active'], ['利用者', 'Active']],
    [
      'alsoInTheWay',
      ['INTERLOCK'],
      ['also in the way', 'Another door of the interlock is not secured. [INTERLOCK]'],
      ['ほかの理由', '連動する別の扉が施錠されていません。 [INTERLOCK]'],
    ],
    ['strange', { a: 1 }, ['strange', '{"a":1}'], ['strange', '{"a":1}']],
  ])('tells %s of %j', (name, value, en, ja) => {
    expect(factText({ name, value }, 'en', at)).toEqual(en);
    expect(factText({ name, value }, 'ja', at)).toEqual(ja);
  });
});
