import { describe, expect, it } from 'vitest';
import type { DoorStatusKind } from '#gateway/door/door-state.ts';
import { DoorBench, ioDevice } from './door-bench.ts';

/** One way into each state, from a door that is shut. */
const states: Readonly<Record<DoorStatusKind, (bench: DoorBench) => void>> = {
  secured: () => {},
  releasing: (bench) => {
    bench.grant('r-0');
  },
  released: (bench) => {
    bench.grant('r-0');
    bench.done('r-0');
  },
  open: (bench) => {
    bench.grant('r-0');
    bench.done('r-0');
    bench.contact('active');
    bench.doneAll();
  },
  held: (bench) => {
    states.open(bench);
    bench.pass(30_000);
  },
  forced: (bench) => {
    bench.contact('active');
  },
  securing: (bench) => {
    states.released(bench);
    bench.pass(6_000);
  },
  jammed: (bench) => {
    states.securing(bench);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      for (const id of bench.awaited) bench.result(id, { kind: 'refused', reason: 'jammed' });
      bench.pass(1_000);
    }
  },
  unknown: (bench) => {
    bench.take({ kind: 'device', device: ioDevice, isUp: false });
  },
};

/** The answer to whatever is awaited; to nothing, where nothing is. */
const answer =
  (kind: 'done' | 'unknown' | 'refused' | 'not-executed') =>
  (bench: DoorBench): void => {
    const result = kind === 'done' || kind === 'unknown' ? ({ kind } as const) : ({ kind, reason: 'told' } as const);
    for (const id of [...bench.awaited, 'nobody']) bench.result(id, result);
  };

const inputs: Readonly<Record<string, (bench: DoorBench) => void>> = {
  granted: (bench) => bench.grant('r-1'),
  'command release': (bench) => bench.command('c-1', { kind: 'release' }),
  'command secure': (bench) => bench.command('c-1', { kind: 'secure' }),
  'mode free': (bench) => bench.command('c-1', { kind: 'mode', mode: 'free' }),
  'mode lockdown': (bench) => bench.command('c-1', { kind: 'mode', mode: 'lockdown' }),
  'mode controlled': (bench) => bench.command('c-1', { kind: 'mode', mode: 'controlled' }),
  done: answer('done'),
  refused: answer('refused'),
  'not executed': answer('not-executed'),
  'outcome unknown': answer('unknown'),
  'contact open': (bench) => bench.contact('active'),
  'contact closed': (bench) => bench.contact('inactive'),
  'contact short': (bench) => bench.contact('short'),
  'contact unknown': (bench) => bench.contact('unknown'),
  'exit button': (bench) => bench.take({ kind: 'rex', level: 'active' }),
  'fire on': (bench) => bench.take({ kind: 'fire', level: 'active' }),
  'fire off': (bench) => bench.take({ kind: 'fire', level: 'inactive' }),
  'output released': (bench) => bench.take({ kind: 'output', isActive: true }),
  'output secured': (bench) => bench.take({ kind: 'output', isActive: false }),
  'device down': (bench) => bench.take({ kind: 'device', device: ioDevice, isUp: false }),
  'device up': (bench) => bench.take({ kind: 'device', device: ioDevice, isUp: true }),
  'other device down': (bench) => bench.take({ kind: 'device', device: 'elsewhere' as typeof ioDevice, isUp: false }),
  'schedule frees': (bench) => bench.take({ kind: 'free-schedule', isInside: true }),
  'schedule ends': (bench) => bench.take({ kind: 'free-schedule', isInside: false }),
  tick: (bench) => bench.take({ kind: 'tick' }),
};

/** The state after the input, and what the lock was told. */
function cell(state: DoorStatusKind, input: string): string {
  const bench = DoorBench.shut();
  states[state](bench);
  expect(bench.status).toBe(state);
  bench.effects.length = 0;
  inputs[input]?.(bench);
  const told = bench.effects.flatMap(({ kind }) =>
    kind === 'release' || kind === 'secure' || kind === 'free' ? [kind] : [],
  );
  return [bench.status, ...told.map((command) => `+${command}`)].join('');
}

/** Columns: the state before. Cells: the state after, and what the lock is told at once. */
const table = `
| input             | secured           | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
| granted           | releasing+release | releasing+release | releasing+release | open+release | open+release | forced+release | releasing+release | jammed          | unknown |
| command release   | releasing+release | releasing+release | releasing+release | open+release | open+release | forced+release | releasing+release | jammed          | unknown |
| command secure    | secured           | securing+secure   | securing+secure   | open         | held         | forced         | securing+secure   | securing+secure | unknown |
| mode free         | releasing+free    | releasing         | releasing+free    | open+free    | open+free    | forced+free    | securing          | jammed          | unknown |
| mode lockdown     | secured           | securing+secure   | securing+secure   | open         | held         | forced         | securing          | jammed          | unknown |
| mode controlled   | secured           | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
| done              | secured           | released          | released          | open         | held         | forced         | secured           | jammed          | unknown |
| refused           | secured           | securing+secure   | released          | open         | held         | forced         | unknown           | jammed          | unknown |
| not executed      | secured           | securing+secure   | released          | open         | held         | forced         | unknown           | jammed          | unknown |
| outcome unknown   | secured           | unknown           | released          | open         | held         | forced         | unknown           | jammed          | unknown |
| contact open      | forced            | open+secure       | open+secure       | open         | held         | forced         | open              | forced          | open    |
| contact closed    | secured           | releasing         | released          | secured      | secured      | secured        | securing          | jammed          | unknown |
| contact short     | unknown           | unknown           | unknown           | unknown      | unknown      | unknown        | unknown           | unknown         | unknown |
| contact unknown   | unknown           | unknown           | unknown           | unknown      | unknown      | unknown        | unknown           | unknown         | unknown |
| exit button       | secured           | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
| fire on           | secured           | releasing         | released          | open         | open         | forced         | securing          | jammed          | unknown |
| fire off          | secured           | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
| output released   | securing          | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
| output secured    | secured           | releasing         | secured           | open         | held         | forced         | secured           | secured         | unknown |
| device down       | unknown           | unknown           | unknown           | unknown      | unknown      | unknown        | unknown           | unknown         | unknown |
| device up         | secured           | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
| other device down | secured           | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
| schedule frees    | releasing+free    | releasing         | releasing+free    | open+free    | open+free    | forced+free    | securing          | jammed          | unknown |
| schedule ends     | secured           | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
| tick              | secured           | releasing         | released          | open         | held         | forced         | securing          | jammed          | unknown |
`;

describe('the door machine’s table', () => {
  const [head = [], ...rows] = table
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .map((text) => text.trim())
        .slice(1, -1),
    );
  const cells = rows.flatMap(([input = '', ...after]) =>
    after.map((expected, column) => ({ state: head[column + 1] as DoorStatusKind, input, expected })),
  );

  it('has a cell for every state and input', () => {
    expect(head.slice(1)).toEqual(Object.keys(states));
    expect(rows.map(([input]) => input)).toEqual(Object.keys(inputs));
    expect(cells).toHaveLength(9 * Object.keys(inputs).length);
  });

  it.each(cells)('$state + $input → $expected', ({ state, input, expected }) => {
    expect(cell(state, input)).toBe(expected);
  });
});
