import { expect, it } from 'vitest';
import { choosePin } from '#cloud/credential/choose-pin.ts';
import { isGuessable, isOneSlipAway, mostPins } from '#cloud/credential/pin-policy.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

it.each([
  '1234',
  '4321',
  '7890',
  '8901',
  '0000',
  '1212',
  '123123',
  '1221',
  '1122',
  '2580',
  '0852',
  '1999',
  '2026',
  '12321',
])('calls %s guessable', (pin) => expect(isGuessable(pin)).toBe(true));

it.each(['4071', '902714', '3086', '18427', '5520938147'])('does not call %s guessable', (pin) =>
  expect(isGuessable(pin)).toBe(false),
);

it('calls so few PINs guessable that a random one loses nothing: under 6 % of four digits, under 2 % of five', () => {
  const share = (digits: number): number => {
    let count = 0;
    for (let number = 0; number < 10 ** digits; number += 1)
      if (isGuessable(String(number).padStart(digits, '0'))) count += 1;
    return count / 10 ** digits;
  };
  expect(share(4)).toBeLessThan(0.06);
  expect(share(5)).toBeLessThan(0.02);
});

it('keeps one PIN in a thousand of each length', () => {
  expect([4, 5, 6, 10].map(mostPins)).toEqual([10, 100, 1_000, 10_000_000]);
});

it.each([
  ['4071', '4072', true],
  ['4071', '4017', true],
  ['4071', '4701', true],
  ['4071', '1074', false],
  ['4071', '4071', true],
  ['4071', '40713', false],
  ['4071', '4082', false],
])('says of %s and %s that a slip turns one into the other: %s', (one, other, isSlip) => {
  expect(isOneSlipAway(one, other)).toBe(isSlip);
  expect(isOneSlipAway(other, one)).toBe(isSlip);
});

it.each([4, 5, 6, 7, 8, 9, 10])('draws %i digits, leading zeros too, none of them guessable', (digits) => {
  const random = seededRandom(digits);
  const drawn = Array.from({ length: 2_000 }, () => choosePin(digits, (below) => Math.floor(random() * below)));
  for (const pin of drawn) expect(pin).toMatch(new RegExp(`^\\d{${digits}}$`));
  expect(drawn.filter(isGuessable)).toEqual([]);
  expect(drawn.some((pin) => pin.startsWith('0'))).toBe(true);
});

it('draws again where a guessable one came, and says so where nothing else comes', () => {
  const scripted = [1234, 7777, 4071];
  expect(choosePin(4, () => scripted.shift() ?? 0)).toBe('4071');
  expect(() => choosePin(4, () => 1111)).toThrow('randomness');
});
