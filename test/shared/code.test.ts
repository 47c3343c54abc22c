import { expect, it } from 'vitest';
import { alarms, codeRemedy, codeText, grants, isCode, refusals } from '#shared/code.ts';

const codes = [...Object.keys(refusals), ...Object.keys(alarms), ...Object.keys(grants)].filter(isCode);

it('says every code in both languages, as a sentence', () => {
  for (const code of codes) {
    expect(codeText(code, 'en'), code).toMatch(/^[A-Z].*\.$/);
    expect(codeText(code, 'ja'), code).toMatch(/[ぁ-んァ-ン一-龠].*。$/);
  }
});

it('says for every refusal and alarm what a person can do', () => {
  for (const code of [...Object.keys(refusals), ...Object.keys(alarms)].filter(isCode)) {
    expect(codeRemedy(code, 'en'), code).toMatch(/\.$/);
    expect(codeRemedy(code, 'ja'), code).toMatch(/。$/);
  }
});

it('uses each code once', () => {
  expect(new Set(codes).size).toBe(codes.length);
});
