import { expect, it } from 'vitest';
import { codeHttpStatus, codeRemedy, codeTables, codeText, isCode } from '#shared/code.ts';

const codes = codeTables.flatMap((table) => Object.keys(table)).filter(isCode);

it('says every code in both languages, as a sentence', () => {
  for (const code of codes) {
    expect(codeText(code, 'en'), code).toMatch(/^[A-Z].*\.$/);
    expect(codeText(code, 'ja'), code).toMatch(/[ぁ-んァ-ン一-龠].*。$/);
  }
});

it('says for everything but success what a person can do', () => {
  for (const code of codes.filter((code) => codeHttpStatus(code) !== 200)) {
    expect(codeRemedy(code, 'en'), code).toMatch(/\.$/);
    expect(codeRemedy(code, 'ja'), code).toMatch(/。$/);
  }
});

it('uses each code once, whatever its topic', () => {
  expect(new Set(codes).size).toBe(codes.length);
});

it('leaves over HTTP only under statuses that say what kind of answer it is', () => {
  for (const code of codes) {
    expect([200, 400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 500, 503], code).toContain(codeHttpStatus(code));
  }
});
