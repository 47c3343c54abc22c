import { expect, it } from 'vitest';
import { linkFiles, writtenLinkFile } from '../../../tools/generate-link-vectors.ts';

it.each([...linkFiles()])('keeps %s as the code is (else: node tools/generate-link-vectors.ts)', (name, text) => {
  expect(writtenLinkFile(name)).toBe(text);
});
