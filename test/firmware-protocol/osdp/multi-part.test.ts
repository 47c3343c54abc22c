import { describe, expect, it } from 'vitest';
import type { Fragment } from '#protocol/osdp/fragment.ts';
import { type Collecting, type Collection, collectFragment, splitMessage } from '#protocol/osdp/multi-part.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

const message = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => (index * 31) & 0xff);

function collectAll(fragments: readonly Fragment[], longest = 10_000): Collecting | undefined {
  let collection: Collection | undefined;
  let last: Collecting | undefined;
  for (const fragment of fragments) {
    last = collectFragment(collection, fragment, longest);
    if (last.kind !== 'more') return last;
    collection = last.collection;
  }
  return last;
}

describe('a message in parts', () => {
  it.each([
    [1, 1],
    [1, 100],
    [100, 7],
    [128, 64],
    [1_000, 999],
  ])('of %i bytes in fragments of %i comes together again', (length, room) => {
    expect(collectAll(splitMessage(message(length), room))).toEqual({ kind: 'whole', bytes: message(length) });
  });

  it('asks for more until the last', () => {
    expect(collectAll(splitMessage(message(30), 10).slice(0, 2))?.kind).toBe('more');
  });

  it('is broken by a gap, a repeat, another length, an empty part or too many bytes', () => {
    const [one, two, three] = splitMessage(message(30), 10);
    if (one === undefined || two === undefined || three === undefined) throw new Error('three parts');
    expect(collectAll([one, three])).toEqual({ kind: 'broken', problem: 'out-of-order' });
    expect(collectAll([two])).toEqual({ kind: 'broken', problem: 'out-of-order' });
    expect(collectAll([one, two, two])).toEqual({ kind: 'broken', problem: 'out-of-order' });
    expect(collectAll([one, { ...two, total: 31 }])).toEqual({ kind: 'broken', problem: 'other-length' });
    expect(collectAll([one, { ...two, fragment: new Uint8Array(0) }])).toEqual({ kind: 'broken', problem: 'empty' });
    expect(collectAll([one, { ...two, total: 15 }])).toEqual({ kind: 'broken', problem: 'too-long' });
    expect(collectAll([one], 29)).toEqual({ kind: 'broken', problem: 'too-long' });
  });

  it('begins anew at offset 0', () => {
    const [one, two, three] = splitMessage(message(30), 10);
    if (one === undefined || two === undefined || three === undefined) throw new Error('three parts');
    expect(collectAll([one, two, one, two, three])).toEqual({ kind: 'whole', bytes: message(30) });
  });

  it('ends when the sender gives up', () => {
    const [one] = splitMessage(message(30), 10);
    if (one === undefined) throw new Error('a part');
    expect(collectAll([one, { total: 30, offset: 30, fragment: new Uint8Array(0) }])).toEqual({ kind: 'given-up' });
  });

  it('never holds more than allowed, whatever arrives', () => {
    const seed = 20_260;
    const random = seededRandom(seed);
    let collection: Collection | undefined;
    for (let count = 0; count < 20_000; count += 1) {
      const total = Math.floor(random() * 200);
      const offset = random() < 0.5 ? (collection?.bytes.length ?? 0) : Math.floor(random() * 200);
      const step = collectFragment(collection, { total, offset, fragment: message(Math.floor(random() * 50)) }, 100);
      collection = step.kind === 'more' ? step.collection : undefined;
      expect(collection?.bytes.length ?? 0, `seed ${seed}`).toBeLessThanOrEqual(100);
    }
  });
});
