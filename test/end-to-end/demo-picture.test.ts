import { describe, expect, test } from 'vitest';
import type { DoorStatus } from '#gateway/control/replies.ts';
import { columns, drawDoors } from '../../tools/demo-picture.ts';

const door = (name: string, state: string, mode = 'controlled'): DoorStatus =>
  ({ id: name, name, state, mode, ageMs: 0, alarms: [] }) as DoorStatus;
const plain = { language: 'en', hasColour: false, width: 80 } as const;
const names = ['Main entrance', 'Office', 'Locker room', 'Server room'];

describe('the picture of the doors', () => {
  test('fits four doors beside each other on eighty columns', () => {
    const lines = drawDoors(
      names.map((name) => door(name, 'secured')),
      plain,
    );
    expect(lines).toHaveLength(3);
    expect(lines[1]).toBe('┃━━┃ Main entrance  ┃━━┃ Office         ┃━━┃ Locker room    ┃━━┃ Server room');
    expect(lines[2]?.match(/secured/g)).toHaveLength(4);
  });

  test.each([80, 60, 40, 20])('never grows wider than %i columns', (width) => {
    const lines = drawDoors(
      names.map((name) => door(name, 'open')),
      { ...plain, width },
    );
    for (const line of lines) expect(columns(line)).toBeLessThan(width);
  });

  test.each([
    { state: 'released', mode: 'controlled', shape: '┃╱ ┃', word: 'released' },
    { state: 'open', mode: 'controlled', shape: '┃  ┃', word: 'open' },
    { state: 'forced', mode: 'controlled', shape: '┃╳━┃', word: 'forced' },
    { state: 'unknown', mode: 'lockdown', shape: '┆╌╌┆', word: 'unknown' },
    { state: 'secured', mode: 'lockdown', shape: '┃══┃', word: 'lockdown' },
    { state: 'released', mode: 'free', shape: '┃╱ ┃', word: 'free' },
    { state: 'a state of tomorrow', mode: 'controlled', shape: '┆╌╌┆', word: 'unknown' },
  ])('draws $state in mode $mode as $word', ({ state, mode, shape, word }) => {
    const [, top, bottom] = drawDoors([door('Office', state, mode)], plain);
    expect(top).toBe(`${shape} Office`);
    expect(bottom?.trim()).toBe(word);
  });

  test('adds colour to what stands out and leaves the rest, with the same words', () => {
    const coloured = drawDoors([door('Office', 'forced'), door('Lab', 'secured')], { ...plain, hasColour: true });
    expect(coloured.join('\n')).toContain('\x1b[31m┃╳━┃\x1b[0m Office');
    expect(coloured.join('\n')).not.toContain('\x1b[31m┃━━┃');
  });

  test('lines up Japanese, whose characters are two columns wide', () => {
    expect(columns('施錠 ok')).toBe(7);
    const [, top = '', bottom = ''] = drawDoors([door('正面', 'secured'), door('B', 'secured')], {
      ...plain,
      language: 'ja',
    });
    expect(columns(top.slice(0, top.lastIndexOf('┃━━┃')))).toBe(
      columns(bottom.slice(0, bottom.lastIndexOf('施錠'))) - 5,
    );
  });
});
