import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChannel, sealRecord } from '#protocol/link/channel.ts';
import { publicKeyOf, sharedSecret } from '#protocol/link/x25519.ts';
import { hexOf, word } from '../../../tools/link-vector-lines.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';
import { buildProgram, CPeer, lockInC, sourceFolder } from './c-peer.ts';
import { LinkBench, release } from './link-bench.ts';
import { runsOf, survive } from './link-trouble.ts';

const isFull = process.env['KANNUKI_FULL'] === '1';
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 0x7fffffff);
const vectors = join(sourceFolder, '..', 'link', 'vectors');
const read = <Shape>(name: string): Shape => JSON.parse(readFileSync(join(vectors, name), 'utf8')) as Shape;
const orDash = (hex: string): string => (hex === '' ? '-' : hex);

let peer: CPeer;
beforeAll(() => {
  peer = new CPeer();
}, 120_000);
afterAll(async () => {
  // A sanitizer's finding, a leak too, is another exit code.
  expect(await peer.close()).toBe(0);
});

describe('the lock in C, held to the vectors', () => {
  interface Message {
    readonly direction: 'to-lock' | 'from-lock';
    readonly hex: string;
    readonly items: string;
  }
  const way = ({ direction }: { readonly direction: string }): string => (direction === 'to-lock' ? 'to' : 'from');

  it('reads and writes every message as we do', () => {
    const messages = read<readonly Message[]>('messages.json');
    expect(messages.length).toBe(46);
    for (const message of messages) {
      expect(peer.ask(`decode ${way(message)} ${message.hex}`)).toEqual([`ok ${message.items}`]);
      expect(peer.ask(`encode ${way(message)} ${message.items}`)).toEqual([`ok ${message.hex}`]);
    }
  });

  it('refuses every broken message for the same reason', () => {
    const broken =
      read<readonly { readonly direction: string; readonly hex: string; readonly refusal: string }[]>('malformed.json');
    expect(broken.length).toBeGreaterThan(60);
    for (const one of broken)
      expect(peer.ask(`decode ${way(one)} ${orDash(one.hex)}`)).toEqual([`refused ${one.refusal}`]);
  });

  it('stuffs, frames and cuts as we do', () => {
    for (const { clear, stuffed } of read<readonly { readonly clear: string; readonly stuffed: string }[]>(
      'stuffing.json',
    )) {
      expect(peer.ask(`stuff ${orDash(clear)}`)).toEqual([`ok ${stuffed}`]);
      expect(peer.ask(`unstuff ${stuffed}`)).toEqual([`ok ${orDash(clear)}`]);
    }
    const { good, bad } = read<{
      readonly good: readonly {
        readonly address: number;
        readonly turn: number;
        readonly isFresh: boolean;
        readonly isAnswer: boolean;
        readonly packet: string;
        readonly hex: string;
      }[];
      readonly bad: readonly { readonly stuffed: string; readonly fault: string }[];
    }>('serial-frames.json');
    for (const { address, turn, isFresh, isAnswer, packet, hex } of good) {
      const words = `${address} ${turn} ${Number(isFresh)} ${Number(isAnswer)} ${orDash(packet)}`;
      expect(peer.ask(`frame ${words}`)).toEqual([`ok ${hex}`]);
      expect(peer.ask(`unframe ${hex.slice(0, -2)}`)).toEqual([`ok ${words}`]);
    }
    for (const { stuffed, fault } of bad) expect(peer.ask(`unframe ${orDash(stuffed)}`)).toEqual([`dropped ${fault}`]);
    for (const { size, sequence, packet, pieces } of read<
      readonly {
        readonly size: number;
        readonly sequence: number;
        readonly packet: string;
        readonly pieces: readonly string[];
      }[]
    >('pieces.json')) {
      expect(peer.ask(`cut ${size} ${sequence} ${packet}`)).toEqual(pieces.map((piece) => `piece ${piece}`));
      expect(pieces.map((piece) => peer.ask(`piece ${piece}`)[0])).toEqual(
        pieces.map((_, at) => (at === pieces.length - 1 ? `packet ${packet}` : 'more')),
      );
    }
  });

  it('seals and opens records as we do', () => {
    for (const { key, counter, clear, packet } of read<
      readonly { readonly key: string; readonly counter: string; readonly clear: string; readonly packet: string }[]
    >('records.json')) {
      expect(peer.ask(`seal ${key} ${counter} ${clear}`)).toEqual([`ok ${packet}`]);
      expect(peer.ask(`open ${key} ${packet}`)).toEqual([`ok ${counter} ${clear}`]);
    }
  });

  it('does in a whole session what we do, byte for byte', () => {
    const { deviceId, key, identity, steps } = read<{
      readonly deviceId: string;
      readonly key: string;
      readonly identity: {
        readonly vendor: string;
        readonly model: string;
        readonly serial: string;
        readonly firmware: string;
        readonly abilities: number;
      };
      readonly steps: readonly { readonly note: string; readonly input: string; readonly effects: readonly string[] }[];
    }>('session.json');
    lockInC(peer).start({ deviceId, key: Buffer.from(key, 'hex'), identity });
    expect(steps.length).toBeGreaterThan(30);
    for (const { note, input, effects } of steps) expect({ note, effects: peer.ask(input) }).toEqual({ note, effects });
  });

  it('has the same vectors as lines, for whoever has no JSON', () => {
    const lines = readFileSync(join(sourceFolder, 'vectors.txt'), 'utf8').split('\n');
    const answers = lines.filter((line) => line.startsWith('> ')).flatMap((line) => peer.ask(line.slice(2)));
    expect(answers).toEqual(lines.filter((line) => line.startsWith('< ')).map((line) => line.slice(2)));
  });

  it('answers the published Noise handshake', () => {
    const file = join(import.meta.dirname, 'vectors', 'noise-nnpsk0-25519-chachapoly-sha256.json');
    const {
      vectors: [vector],
    } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly vectors: readonly [
        {
          readonly resp_psks: readonly [string];
          readonly resp_prologue: string;
          readonly resp_ephemeral: string;
          readonly handshake_hash: string;
          readonly messages: readonly [
            { readonly payload: string; readonly ciphertext: string },
            { readonly payload: string; readonly ciphertext: string },
          ];
        },
      ];
    };
    const [hello, welcome] = vector.messages;
    const said = peer.ask(
      `noise ${vector.resp_psks[0]} ${vector.resp_prologue} ${vector.resp_ephemeral} ${hello.ciphertext} ${welcome.payload}`,
    );
    expect(said.slice(0, 3)).toEqual([
      `payload ${hello.payload}`,
      `message ${welcome.ciphertext}`,
      `hash ${vector.handshake_hash}`,
    ]);
  });
});

describe('the portable cryptography', () => {
  it('agrees on secrets with the one we use, and refuses points of small order', () => {
    const random = seededRandom(seed);
    for (let round = 0; round < 50; round += 1) {
      const bytes = () => Uint8Array.from({ length: 32 }, () => Math.floor(random() * 256));
      const scalar = bytes();
      const point = round % 2 === 0 ? publicKeyOf(bytes()) : bytes();
      const secret = sharedSecret(scalar, point);
      expect({ seed, round, said: peer.ask(`x25519 ${hexOf(scalar)} ${hexOf(point)}`) }).toEqual({
        seed,
        round,
        said: [secret ? `ok ${hexOf(secret)}` : 'failed'],
      });
    }
    for (const point of ['00'.repeat(32), `01${'00'.repeat(31)}`, `ed${'ff'.repeat(30)}7f`, `ee${'ff'.repeat(30)}ff`]) {
      expect(peer.ask(`x25519 ${'55'.repeat(32)} ${point}`)).toEqual(['failed']);
    }
  });

  const keys = { toResponder: new Uint8Array(32).fill(7), toInitiator: new Uint8Array(32), hash: new Uint8Array(32) };
  it('opens at every length what we seal, and not with any bit changed', () => {
    for (let length = 0; length <= 480; length += 1) {
      const clear = Uint8Array.from({ length }, (_, at) => at & 0xff);
      const { bytes: packet } = sealRecord({ ...openChannel(keys, 'gateway'), sendCounter: length }, clear);
      expect(peer.ask(`open ${'07'.repeat(32)} ${hexOf(packet)}`)).toEqual([`ok ${length} ${word(clear)}`]);
      const bit = (length * 31) % (packet.length * 8);
      const changed = packet.with(bit >> 3, (packet[bit >> 3] ?? 0) ^ (1 << (bit & 7)));
      expect(peer.ask(`open ${'07'.repeat(32)} ${hexOf(changed)}`)).toEqual(['failed']);
    }
  });
});

describe('our gateway and the lock in C', () => {
  it('open a session, carry out a release once, and rotate the key', () => {
    const bench = new LinkBench({ end: lockInC(peer) }).online();
    const id = bench.command(release(5_000));
    const rotation = bench.command({ kind: 'key-rotate', key: new Uint8Array(32).fill(3) });
    bench.run(20_000);
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
    expect(runsOf(bench, 5_000)).toHaveLength(1);
    expect(bench.outcome(rotation)).toEqual({ kind: 'done' });
    expect(bench.did('key-confirmed')).toHaveLength(1);
    expect(bench.said('key-confirmed')).toHaveLength(1);
  });

  const seeds = Array.from({ length: isFull ? 200 : 12 }, (_, index) => 61_001 + index);
  it.each(seeds)(
    'seed %i: survive a bad way with restarts and replays as two of ours do, effect by effect',
    (start) => {
      const play = (end?: ReturnType<typeof lockInC>) => {
        const random = seededRandom(start);
        const bench = new LinkBench({ seed: start, rate: 1 + (random() - 0.5) / 1_000, ...(end && { end }) });
        survive(bench, random);
        return bench;
      };
      const [own, foreign] = [play(), play(lockInC(peer))];
      expect(foreign.lockEffects).toEqual(own.lockEffects);
      expect(foreign.outcomes).toEqual(own.outcomes);
    },
  );
});

it(`survives damaged bytes in all that reads any, with sanitizers (seed ${seed})`, () => {
  console.log(`c-reference seed ${seed}`);
  const rounds = isFull ? 1_000_000 : 50_000;
  const program = buildProgram('fuzz', peer.folder);
  const said = execFileSync(program, [join(sourceFolder, 'vectors.txt'), String(seed), String(rounds)], {
    encoding: 'utf8',
  });
  expect(said).toContain(`${rounds} rounds`);
}, 300_000);
