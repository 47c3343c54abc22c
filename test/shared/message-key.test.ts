import { expect, it } from 'vitest';
import { isMessageKey, messageKeys, messageText } from '#shared/message-key.ts';

it('says every key in both languages, and puts the limit where it belongs', () => {
  for (const key of messageKeys) {
    expect(key).toMatch(/^[a-z_]+(\.[a-z_]+)+$/);
    const [english, japanese] = [messageText(key, 'en', '12'), messageText(key, 'ja', '12')];
    expect(english).toMatch(/^[a-z]/);
    expect(japanese).toMatch(/[ぁ-ん]/);
    expect(english + japanese).not.toContain('{');
    expect(english.includes('12')).toBe(japanese.includes('12'));
  }
});

it('takes no other text for a key', () => {
  expect(isMessageKey('field.required')).toBe(true);
  expect(['', 'toString', 'field', 'Invalid input'].some(isMessageKey)).toBe(false);
});
