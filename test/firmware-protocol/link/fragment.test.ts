import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fragmentPacket, noFragment, type Reassembly, takeFragment } from '#protocol/link/fragment.ts';
import { longestPacket } from '#protocol/link/packet.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

const file = join(import.meta.dirname, '..', '..', '..', 'firmware-protocol', 'link', 'vectors', 'pieces.json');
const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly {
  readonly size: number;
  readonly sequence: number;
  readonly packet: string;
  readonly pieces: readonly string[];
}[];
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const count = (length: number, from = 0): Uint8Array => Uint8Array.from({ length }, (_, at) => (at + from) & 0xff);

function rejoin(pieces: readonly Uint8Array[], start: Reassembly = noFragment) {
  const packets: Uint8Array[] = [];
  let state = start;
  let dropped = 0;
  for (const piece of pieces) {
    const step = takeFragment(state, piece);
    state = step.state;
    if (step.packet !== undefined) packets.push(step.packet);
    dropped += Number(step.isDropped);
  }
  return { packets, dropped, state };
}

it.each(vectors)('cuts into pieces of $size from sequence $sequence as written down, and joins them', (vector) => {
  const { pieces } = fragmentPacket(hex(vector.packet), vector.size, vector.sequence);
  expect(pieces).toEqual(vector.pieces.map(hex));
  expect(rejoin(pieces)).toMatchObject({ packets: [hex(vector.packet)], dropped: 0 });
});

it('joins every length at every size of a radio', () => {
  for (const size of [20, 23, 182, 244, 509]) {
    for (let length = 1; length <= longestPacket; length += 7) {
      const { pieces } = fragmentPacket(count(length), size, length & 0x3f);
      expect(pieces.every((piece) => piece.length <= size)).toBe(true);
      expect(rejoin(pieces).packets).toEqual([count(length)]);
    }
  }
});

it('gives up a packet of which a piece is missing, repeated or out of order, and takes the next', () => {
  const first = fragmentPacket(count(100), 20, 0);
  const next = fragmentPacket(count(30, 50), 20, first.sequence);
  for (let at = 0; at < first.pieces.length; at += 1) {
    const missing = first.pieces.toSpliced(at, 1);
    const repeated = first.pieces.toSpliced(at, 0, first.pieces[at] ?? count(0));
    const swapped = first.pieces.toSpliced(at, 2, ...first.pieces.slice(at, at + 2).reverse());
    for (const damaged of [missing, repeated, swapped]) {
      const { packets } = rejoin([...damaged, ...next.pieces]);
      expect(packets.at(-1)).toEqual(count(30, 50));
      for (const packet of packets.slice(0, -1)) expect(packet).toEqual(count(100));
    }
  }
});

it('never joins pieces of two packets of which only the count fits', () => {
  const one = fragmentPacket(count(60), 20, 0);
  const [, , third] = fragmentPacket(count(60, 100), 20, 0).pieces;
  const { packets } = rejoin([one.pieces[0] ?? count(0), third ?? count(0)]);
  expect(packets).toEqual([]);
});

it('holds no more than a packet, whatever comes', () => {
  const random = seededRandom(5);
  let state = noFragment;
  for (let round = 0; round < 20_000; round += 1) {
    const piece = Uint8Array.from({ length: Math.floor(random() * 260) }, () => Math.floor(random() * 256));
    const step = takeFragment(state, random() < 0.7 && piece.length > 0 ? piece.with(0, state.next) : piece);
    state = step.state;
    expect(state.held?.length ?? 0).toBeLessThanOrEqual(longestPacket);
    expect(step.packet?.length ?? 0).toBeLessThanOrEqual(longestPacket);
  }
});
