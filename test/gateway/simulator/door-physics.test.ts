import { describe, expect, test } from 'vitest';
import {
  closedDoor,
  type DoorInput,
  type DoorPhysics,
  type DoorShape,
  type Happening,
  isPassable,
  nextDueAt,
  sense,
  stepPhysics,
} from '#gateway/simulator/door-physics.ts';
import { monoMs } from '#shared/instant.ts';

const strike: DoorShape = { release: 'energise', opensAfterMs: 500, closesAfterMs: 2000 };
const magnet: DoorShape = { ...strike, release: 'de-energise' };

type Act = DoorInput extends infer Input ? (Input extends DoorInput ? Omit<Input, 'at'> : never) : never;

/** Plays acts at their times; says what happened, and when each was seen. */
function play(shape: DoorShape, acts: readonly (readonly [number, Act])[], from: DoorPhysics = closedDoor) {
  let state = from;
  const happened: Happening[] = [];
  for (const [at, act] of acts) {
    const step = stepPhysics(shape, state, { ...act, at: monoMs(at) } as DoorInput);
    state = step.state;
    happened.push(...step.happened);
  }
  return { state, happened };
}

const on = { kind: 'current', isOn: true } as const;
const off = { kind: 'current', isOn: false } as const;
const arrive = { kind: 'arrive', patienceMs: 3000 } as const;
const tick = { kind: 'tick' } as const;

describe('a physical door', () => {
  test.each([
    {
      does: 'stays shut while nobody is there',
      shape: strike,
      acts: [
        [0, on],
        [9000, tick],
      ],
      happened: [],
    },
    {
      does: 'stays shut while nothing releases it',
      shape: strike,
      acts: [
        [0, arrive],
        [2999, tick],
      ],
      happened: [],
    },
    {
      does: 'sees a person leave who waited in vain',
      shape: strike,
      acts: [
        [0, arrive],
        [3000, tick],
      ],
      happened: ['gave-up'],
    },
    {
      does: 'opens half a second after the release and falls closed',
      shape: strike,
      acts: [
        [0, arrive],
        [100, on],
        [600, tick],
        [2600, tick],
      ],
      happened: ['opened', 'closed'],
    },
    {
      does: 'opens for who comes while it is released',
      shape: strike,
      acts: [
        [0, on],
        [100, arrive],
        [600, tick],
      ],
      happened: ['opened'],
    },
    {
      does: 'does not open when it is secured under the hand',
      shape: strike,
      acts: [
        [0, arrive],
        [100, on],
        [400, off],
        [600, tick],
      ],
      happened: ['gave-up'],
    },
    {
      does: 'falls closed and latches although the strike is long off',
      shape: strike,
      acts: [
        [0, arrive],
        [0, on],
        [500, tick],
        [501, off],
        [2500, tick],
      ],
      happened: ['opened', 'closed'],
    },
    {
      does: 'with a magnet, opens when the current goes',
      shape: magnet,
      acts: [
        [0, on],
        [10, arrive],
        [100, off],
        [600, tick],
      ],
      happened: ['opened'],
    },
    {
      does: 'with a magnet, stays shut while the current flows',
      shape: magnet,
      acts: [
        [0, on],
        [10, arrive],
        [2000, tick],
      ],
      happened: [],
    },
    {
      does: 'opens from inside without any release',
      shape: strike,
      acts: [
        [0, { kind: 'exit' }],
        [500, tick],
      ],
      happened: ['opened'],
    },
    {
      does: 'gives way to force, once',
      shape: strike,
      acts: [
        [0, { kind: 'force' }],
        [1, { kind: 'force' }],
      ],
      happened: ['forced'],
    },
    {
      does: 'stays open while held and falls closed when let go',
      shape: strike,
      acts: [
        [0, { kind: 'force' }],
        [10, { kind: 'hold', isHeld: true }],
        [60_000, tick],
        [61_000, { kind: 'hold', isHeld: false }],
        [63_000, tick],
      ],
      happened: ['forced', 'closed'],
    },
  ] as { does: string; shape: DoorShape; acts: [number, Act][]; happened: Happening[] }[])(
    '$does',
    ({ shape, acts, happened }) => {
      expect(play(shape, acts).happened).toEqual(happened);
    },
  );

  test('tells what was due in its order, even when looked at much later', () => {
    const { state, happened } = play(strike, [
      [0, arrive],
      [100, on],
      [60_000, off],
    ]);
    expect(happened).toEqual(['opened', 'closed']);
    expect(state.person).toBeUndefined();
    expect(nextDueAt(state)).toBeUndefined();
  });

  test('presses the exit button for a moment, before the leaf moves', () => {
    const pressed = play(strike, [[0, { kind: 'exit' }]]).state;
    expect(sense(pressed)).toEqual({ contact: false, rex: true, fire: false });
    const let_go = play(strike, [[400, tick]], pressed).state;
    expect(sense(let_go)).toEqual({ contact: false, rex: false, fire: false });
    expect(nextDueAt(let_go)).toBe(500);
  });

  test('shows what a stuck contact shows, whatever the leaf does', () => {
    const stuck = play(strike, [
      [0, { kind: 'stick-contact', contact: 'closed' }],
      [1, { kind: 'force' }],
    ]).state;
    expect(stuck.leaf).toBe('open');
    expect(sense(stuck).contact).toBe(false);
    expect(sense(play(strike, [[2, { kind: 'stick-contact', contact: undefined }]], stuck).state).contact).toBe(true);
  });

  test('lets a magnet door go when the power fails', () => {
    expect(isPassable(magnet, closedDoor)).toBe(true);
    expect(isPassable(strike, closedDoor)).toBe(false);
  });

  test('reports an active fire input until it clears', () => {
    const burning = play(strike, [[0, { kind: 'fire', isActive: true }]]).state;
    expect(sense(burning).fire).toBe(true);
    expect(sense(play(strike, [[1, { kind: 'fire', isActive: false }]], burning).state).fire).toBe(false);
  });
});
