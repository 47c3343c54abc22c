import { describe, expect, it } from 'vitest';
import { encodeFrame, type Frame, type Sequence } from '#protocol/osdp/frame.ts';
import { type Command, decodeReply, encodeCommand, type Reply } from '#protocol/osdp/message.ts';
import type { PeripheralConfig, PeripheralEffect, PeripheralInput } from '#protocol/osdp/peripheral-port.ts';
import { eventsLimit, stepPeripheralSession } from '#protocol/osdp/peripheral-session.ts';
import { createPeripheralSession, type PeripheralState } from '#protocol/osdp/peripheral-state.ts';
import {
  card,
  frameOf,
  otherKey,
  plainReader,
  readerIdentity,
  release,
  SessionBench,
  securePanel,
  secureReader,
} from './session-bench.ts';

const empty = new Uint8Array(0);

/** A reader that is spoken to in plain by hand. */
class Reader {
  state: PeripheralState;
  readonly effects: PeripheralEffect[] = [];
  at = 0;

  constructor(config: PeripheralConfig) {
    this.state = createPeripheralSession(config);
  }

  tell(input: PeripheralInput): readonly PeripheralEffect[] {
    const { state, effects } = stepPeripheralSession(this.state, input);
    this.state = state;
    this.effects.push(...effects);
    return effects;
  }

  ask(command: Command, sequence: Sequence, changes: Partial<Frame> = {}): readonly Uint8Array[] {
    this.at += 50;
    const message = encodeCommand(command);
    const bytes = encodeFrame(
      { address: 0, isReply: false, sequence, check: 'crc', security: undefined, ...message, ...changes },
      () => Uint8Array.of(1, 2, 3, 4),
    );
    const effects = frameOf(bytes).flatMap((frame) =>
      this.tell({ kind: 'frame', at: this.at, frame, entropy: new Uint8Array(8) }),
    );
    return effects.flatMap((effect) => (effect.kind === 'transmit' ? [effect.bytes] : []));
  }

  /** The reply, with its sequence. */
  reply(
    command: Command,
    sequence: Sequence,
    changes: Partial<Frame> = {},
  ): readonly [Reply['kind'] | string, Sequence] {
    const frame = this.ask(command, sequence, changes).flatMap(frameOf)[0];
    if (frame === undefined) return ['silence', 0];
    const decoded = decodeReply(frame.code, frame.data);
    return [decoded.kind === 'nak' ? `nak ${decoded.reason}` : decoded.kind, frame.sequence];
  }
}

const id: Command = { kind: 'id', form: 0 };
const poll: Command = { kind: 'poll' };

describe('a reader in plain', () => {
  it('answers what it is asked, with the sequence of the command', () => {
    const reader = new Reader(plainReader);
    expect(reader.reply(id, 0)).toEqual(['identity', 0]);
    expect(reader.reply({ kind: 'capabilities', form: 0 }, 1)).toEqual(['capabilities', 1]);
    expect(reader.reply({ kind: 'local-status' }, 2)).toEqual(['local-status', 2]);
    expect(reader.reply({ kind: 'input-status' }, 3)).toEqual(['input-status', 3]);
    expect(reader.reply({ kind: 'output-status' }, 1)).toEqual(['output-status', 1]);
    expect(reader.reply({ kind: 'reader-status' }, 2)).toEqual(['reader-status', 2]);
    expect(reader.reply(poll, 3)).toEqual(['ack', 3]);
  });

  it('hears its address and the broadcast, and nothing else', () => {
    const reader = new Reader(plainReader);
    expect(reader.reply(id, 0, { address: 1 })).toEqual(['silence', 0]);
    expect(reader.reply(id, 0, { isReply: true })).toEqual(['silence', 0]);
    expect(reader.reply(id, 0, { address: 0x7f })).toEqual(['identity', 0]);
  });

  it('wants sequence 0 after power-up, and the next one afterwards', () => {
    const reader = new Reader(plainReader);
    expect(reader.reply(poll, 2)).toEqual(['nak 4', 0]);
    expect(reader.reply(poll, 0)).toEqual(['ack', 0]);
    expect(reader.reply(poll, 2)).toEqual(['nak 4', 0]);
    expect(reader.reply(poll, 1)).toEqual(['ack', 1]);
  });

  it('answers a repeat with the same bytes and does nothing twice', () => {
    const reader = new Reader(plainReader);
    reader.tell({ kind: 'present', at: 0, reply: card(1) });
    reader.ask(id, 0);
    const first = reader.ask(poll, 1);
    expect(reader.ask(poll, 1)).toEqual(first);
    expect(reader.reply(poll, 2)).toEqual(['ack', 2]);
    const released = reader.ask(release, 3);
    expect(reader.ask(release, 3)).toEqual(released);
    expect(reader.effects.filter(({ kind }) => kind === 'output')).toHaveLength(1);
  });

  it('refuses another command under the same sequence', () => {
    const reader = new Reader(plainReader);
    reader.ask(id, 0);
    reader.ask(poll, 1);
    expect(reader.reply(release, 1)).toEqual(['nak 4', 0]);
    expect(reader.effects.filter(({ kind }) => kind === 'output')).toEqual([]);
  });

  it('says what is wrong with a command', () => {
    const bare = { ...plainReader, capabilities: [{ function: 4, level: 1, count: 1 }] };
    const reader = new Reader(bare);
    reader.ask(id, 0);
    expect(reader.reply(release, 1)).toEqual(['nak 3', 1]);
    expect(reader.reply(poll, 2, { code: 0x69, data: Uint8Array.of(1, 2, 3) })).toEqual(['nak 2', 2]);
    expect(reader.reply(poll, 3, { code: 0x69, data: new Uint8Array(14).fill(1, 9, 10) })).toEqual(['nak 9', 3]);
    expect(reader.reply(poll, 1, { code: 0x6f })).toEqual(['nak 3', 1]);
    expect(reader.reply({ kind: 'set-key', key: otherKey }, 2)).toEqual(['nak 5', 2]);
    expect(reader.reply({ kind: 'set-communication', address: 1, baud: 9_600 }, 3)).toEqual(['nak 3', 3]);
  });

  it('obeys what it can', () => {
    const reader = new Reader({ ...plainReader, allowsCommunication: true });
    reader.ask(id, 0);
    expect(reader.reply(release, 1)).toEqual(['ack', 1]);
    expect(
      reader.reply({ kind: 'buzzer', reader: 0, tone: 'default', onTenths: 1, offTenths: 1, count: 1 }, 2),
    ).toEqual(['ack', 2]);
    expect(reader.reply({ kind: 'set-communication', address: 5, baud: 19_200 }, 3)).toEqual(['communication', 3]);
    expect(reader.effects.filter(({ kind }) => kind !== 'transmit')).toEqual([
      { kind: 'output', output: 0, action: 'on-for-timer', timerMs: 5_000 },
      { kind: 'buzzer', reader: 0, tone: 'default', onTenths: 1, offTenths: 1, count: 1 },
      { kind: 'communication', address: 5, baud: 19_200 },
    ]);
    expect(reader.reply(poll, 1)).toEqual(['silence', 0]);
    expect(reader.reply(poll, 1, { address: 5 })).toEqual(['ack', 1]);
  });

  it('tells its events one a POLL, oldest first, and loses the oldest of too many', () => {
    const reader = new Reader(plainReader);
    reader.ask(id, 0);
    for (let number = 0; number <= eventsLimit; number += 1)
      reader.tell({ kind: 'present', at: 0, reply: card(number) });
    expect(reader.effects.filter(({ kind }) => kind === 'event-lost')).toEqual([{ kind: 'event-lost', lost: 1 }]);
    const first = reader.ask(poll, 1).flatMap(frameOf)[0];
    expect(first?.data[6]).toBe(1);
    expect(reader.state.events).toHaveLength(eventsLimit - 1);
  });

  it('remembers the status it reported', () => {
    const reader = new Reader(plainReader);
    reader.ask(id, 0);
    reader.tell({ kind: 'present', at: 0, reply: { kind: 'input-status', inputs: ['active', 'cut'] } });
    expect(reader.reply(poll, 1)).toEqual(['input-status', 1]);
    expect(reader.ask({ kind: 'input-status' }, 2).flatMap(frameOf)[0]?.data).toEqual(Uint8Array.of(1, 3));
  });
});

describe('a reader with a key', () => {
  it('that requires encryption says in plain only who it is', () => {
    const reader = new Reader(secureReader);
    expect(reader.reply(id, 0)).toEqual(['identity', 0]);
    expect(reader.reply({ kind: 'capabilities', form: 0 }, 1)).toEqual(['capabilities', 1]);
    expect(reader.reply(poll, 2)).toEqual(['nak 6', 2]);
    expect(reader.reply(release, 3)).toEqual(['nak 6', 3]);
    expect(reader.effects.filter(({ kind }) => kind === 'output')).toEqual([]);
  });

  it('has no session to offer without one', () => {
    const { key: _key, ...keyless } = secureReader;
    const reader = new Reader(keyless);
    const challenge: Command = { kind: 'challenge', random: new Uint8Array(8) };
    for (const select of [0, 1, 7]) {
      const security = { type: 0x11, data: Uint8Array.of(select) };
      expect(reader.reply(challenge, 0, { security })).toEqual(['nak 5', 0]);
    }
    expect(reader.reply(poll, 1, { security: { type: 0x15, data: empty } })).toEqual(['nak 6', 1]);
  });

  it('refuses a wrong proof', () => {
    const reader = new Reader(secureReader);
    const security = (type: number) => ({ type, data: Uint8Array.of(1) });
    reader.ask({ kind: 'challenge', random: new Uint8Array(8) }, 0, { security: security(0x11) });
    const proof: Command = { kind: 'panel-cryptogram', cryptogram: new Uint8Array(16) };
    expect(reader.reply(proof, 1, { security: security(0x13) })).toEqual(['nak 6', 1]);
    expect(reader.state.channel).toBeUndefined();
    // Without a challenge there is nothing to prove.
    expect(reader.reply(proof, 2, { security: security(0x13) })).toEqual(['nak 5', 2]);
  });

  it('keeps its session when somebody speaks in plain into it', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    const { channel, sequence } = bench.reader;
    const next = ((sequence ?? 0) % 3) + 1;
    const intruder = encodeFrame({
      address: 0,
      isReply: false,
      sequence: next as Sequence,
      check: 'crc',
      security: undefined,
      ...encodeCommand(release),
    });
    const step = stepPeripheralSession(bench.reader, {
      kind: 'frame',
      at: bench.now,
      frame: frameOf(intruder)[0] as Frame,
      entropy: empty,
    });
    expect(step.state.channel).toBe(channel);
    expect(step.effects).toMatchObject([{ kind: 'refused', nak: 6 }, { kind: 'transmit' }]);
    bench.run(1_000);
    expect(bench.said('offline')).toEqual([]);
  });

  it('does nothing said in plain during a session, even where it would speak plain otherwise', () => {
    const bench = new SessionBench(securePanel, { ...secureReader, requireSecure: false }).run(500);
    const sequence = (((bench.reader.sequence ?? 0) % 3) + 1) as Sequence;
    const parts = { address: 0, isReply: false, sequence, check: 'crc', security: undefined } as const;
    bench.inject('to-reader', encodeFrame({ ...parts, ...encodeCommand(release) }), 1);
    bench.run(2_000);
    expect(bench.did('refused')).toMatchObject([{ nak: 6 }]);
    expect(bench.did('output')).toEqual([]);
  });

  it('ends its session after eight seconds of silence, and says so once', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    let state = bench.reader;
    const said: PeripheralEffect[] = [];
    for (let at = bench.now; at < bench.now + 30_000; at += 500) {
      const step = stepPeripheralSession(state, { kind: 'tick', at });
      state = step.state;
      said.push(...step.effects);
    }
    expect(said).toEqual([{ kind: 'session', state: 'silent' }]);
    expect(state.channel).toBeUndefined();
  });

  it('takes a key only in a session, and leaves install mode with it', () => {
    const { key: _key, ...keyless } = secureReader;
    const bench = new SessionBench(
      { ...securePanel, security: { mode: 'secure', key: undefined } },
      { ...keyless, isInstallMode: true },
    ).run(100);
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 10_000, key: otherKey });
    bench.run(1_000);
    expect(bench.did('session').map(({ state }) => state)).toEqual(['default-key', 'ended', 'secure']);
    expect(bench.reader.isInstallMode).toBe(false);
    expect(bench.reader.key).toEqual(otherKey);
    expect(bench.said('online')).toMatchObject([{ identity: readerIdentity }]);
  });
});
