import { describe, expect, it } from 'vitest';
import type { FeedbackSignal } from '#gateway/device/driver.ts';
import { feedbackAbility, feedbackCommands } from '#gateway/device/osdp/reader-feedback.ts';
import { encodeCommand } from '#protocol/osdp/message.ts';

const able = { led: 4, buzzer: 2 };
const bytes = (ability: typeof able, signal: FeedbackSignal, ms: number) =>
  feedbackCommands(ability, 0, signal, ms).map((command) => Buffer.from(encodeCommand(command).data).toString('hex'));

describe('feedback at a reader', () => {
  it.each([
    ['idle is red for good', 'idle', 0, ['0000' + '00000000000000' + '0101000101']],
    ['free is green for good', 'free', 0, ['0000' + '00000000000000' + '0101000202']],
    ['lockdown flashes red for good', 'lockdown', 0, ['0000' + '00000000000000' + '0105050100']],
    [
      'granted is green while the strike is, with one beep',
      'granted',
      3_000,
      ['0000' + '02010002021e00' + '0000000000', '0002010101'],
    ],
    [
      'refused flashes red for a second, with three beeps',
      'refused',
      0,
      ['0000' + '02020201000a00' + '0000000000', '0002020103'],
    ],
    ['enter-pin flashes amber', 'enter-pin', 10_000, ['0000' + '02030303006400' + '0000000000']],
    ['held-warning flashes and beeps', 'held-warning', 5_000, ['0000' + '02010101003200' + '0000000000', '0002030705']],
  ] as const)('%s', (_, signal, ms, expected) => {
    expect(bytes(able, signal, ms)).toEqual(expected);
  });

  it('asks a reader for nothing it does not have', () => {
    expect(bytes({ led: 0, buzzer: 0 }, 'granted', 1_000)).toEqual([]);
    expect(bytes({ led: 0, buzzer: 2 }, 'granted', 1_000)).toEqual(['0002010101']);
  });

  it('leaves a buzzer and a lamp alone that would not end by themselves', () => {
    expect(bytes({ led: 1, buzzer: 1 }, 'refused', 1_000)).toEqual([]);
    expect(bytes({ led: 1, buzzer: 1 }, 'idle', 0)).toHaveLength(1);
  });

  it('flashes red where there is no amber', () => {
    expect(bytes({ led: 3, buzzer: 0 }, 'enter-pin', 10_000)).toEqual(['0000' + '02030301006400' + '0000000000']);
  });

  it('reads the ability from what the reader says', () => {
    const capabilities = [
      { function: 99, level: 9, count: 9 },
      { function: 4, level: 3, count: 1 },
    ];
    expect(feedbackAbility(capabilities)).toEqual({ led: 3, buzzer: 0 });
  });
});
