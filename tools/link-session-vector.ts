/** Whole sessions of the lock link as a lock sees them: every input it is given, and what it must do. */
import { openChannel, sealRecord } from '#protocol/link/channel.ts';
import type { GatewayInput } from '#protocol/link/gateway-port.ts';
import { stepGatewaySession } from '#protocol/link/gateway-session.ts';
import { createGatewaySession, type GatewayState } from '#protocol/link/gateway-state.ts';
import type { LockConfig, LockEffect, LockInput } from '#protocol/link/lock-port.ts';
import { stepLockSession } from '#protocol/link/lock-session.ts';
import { createLockSession, type LockState } from '#protocol/link/lock-state.ts';
import { effectLine, hexOf, inputLine } from './link-vector-lines.ts';

/** Published here, and so good for nothing but these vectors. */
const bytes = (seed: number, length = 32): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (seed * 29 + at * 7) & 0xff);

const config: LockConfig = {
  deviceId: 'vector-lock',
  key: bytes(1),
  identity: { vendor: 'Kannuki', model: 'Vector', serial: '0001', firmware: '1.2.3', abilities: 9 },
};

export interface VectorStep {
  readonly note: string;
  readonly input: string;
  readonly effects: readonly string[];
}

/** Plays both ends, and writes down the lock's. */
class Recorder {
  gateway: GatewayState = createGatewaySession({
    deviceId: config.deviceId,
    key: config.key,
    pace: { keepAliveMs: Number.POSITIVE_INFINITY },
  });
  lock: LockState = createLockSession(config);
  readonly steps: VectorStep[] = [];
  at = 100_000;
  private seed = 10;
  private id = 0;

  /** The lock's uptime. */
  uptime(): number {
    return this.at - 90_000;
  }

  entropy(): Uint8Array {
    this.seed += 1;
    return bytes(this.seed);
  }

  input(note: string, input: LockInput): readonly LockEffect[] {
    const { state, effects } = stepLockSession(this.lock, input);
    this.lock = state;
    this.steps.push({ note, input: inputLine(input), effects: effects.map(effectLine) });
    return effects;
  }

  packet(note: string, packet: Uint8Array): readonly LockEffect[] {
    return this.input(note, { kind: 'packet', at: this.uptime(), entropy: this.entropy(), bytes: packet });
  }

  /** What the gateway sends when it is told that. */
  say(input: GatewayInput): readonly Uint8Array[] {
    const { state, effects } = stepGatewaySession(this.gateway, input);
    this.gateway = state;
    return effects.flatMap((effect) => (effect.kind === 'transmit' ? [effect.bytes] : []));
  }

  tick(): readonly Uint8Array[] {
    return this.say({ kind: 'tick', at: this.at, entropy: this.entropy() });
  }

  /** Gives what the lock transmits to the gateway, and returns what that sends. */
  pass(effects: readonly LockEffect[]): readonly Uint8Array[] {
    return effects.flatMap((effect) =>
      effect.kind === 'transmit' ? this.say({ kind: 'packet', at: this.at, bytes: effect.bytes }) : [],
    );
  }

  command(command: Extract<GatewayInput, { kind: 'command' }>['command'], lifetimeMs = 2_000): Uint8Array {
    this.id += 1;
    const [packet] = this.say({ kind: 'command', at: this.at, id: this.id, command, deadline: this.at + lifetimeMs });
    if (packet === undefined) throw new Error('the gateway says nothing');
    return packet;
  }

  /** A record of the running session with any plaintext, as the gateway would seal it. */
  record(clear: Uint8Array): Uint8Array {
    const { channel } = this.gateway;
    if (channel === undefined) throw new Error('no session');
    const sealed = sealRecord(channel.link, clear);
    this.gateway = { ...this.gateway, channel: { ...channel, link: sealed.channel } };
    return sealed.bytes;
  }

  connect(note: string): void {
    const [hello = bytes(0)] = this.tick();
    const [proof = bytes(0)] = this.pass(this.packet(`${note}: the gateway's handshake`, hello));
    this.at += 50;
    const asked = this.packet(`${note}: the first record proves the session and asks for the state`, proof);
    this.answerStatus(asked);
  }

  answerStatus(asked: readonly LockEffect[]): void {
    for (const effect of asked) {
      if (effect.kind !== 'ask') continue;
      const answer = {
        kind: 'status',
        bolt: 'secured',
        contact: 'closed',
        battery: 77,
        isTampered: false,
        isJammed: false,
        firmware: '1.2.3',
      } as const;
      this.pass(this.input('the state is told', { kind: 'answer', at: this.uptime(), ticket: effect.ticket, answer }));
    }
  }

  finish(note: string, effects: readonly LockEffect[], result: 'done' | 'jammed' = 'done'): readonly LockEffect[] {
    const execute = effects.find((effect) => effect.kind === 'execute');
    if (execute === undefined) throw new Error(`${note}: nothing to finish`);
    return this.input(note, { kind: 'done', at: this.uptime(), ticket: execute.ticket, result });
  }
}

function commands(recorder: Recorder): void {
  const release = recorder.command({ kind: 'release', ms: 5_000 });
  const begun = recorder.packet('a release', release);
  recorder.packet('the same bytes again', release);
  recorder.at += 30;
  recorder.pass(recorder.finish('the bolt has moved', begun));
  recorder.finish('said a second time', begun, 'jammed');
  const secure = recorder.command({ kind: 'secure' });
  const securing = recorder.packet('secure', secure);
  recorder.at += 600;
  const [again = bytes(0)] = recorder.tick();
  recorder.packet('sent again while the bolt still moves', again);
  recorder.finish('the bolt is stuck', securing, 'jammed');
  recorder.at += 600;
  const [third = bytes(0)] = recorder.tick();
  recorder.pass(recorder.packet('sent again: answered out of memory', third));
  const late = recorder.command({ kind: 'release', ms: 3_000 }, 1_000);
  recorder.at += 1_500;
  recorder.pass(recorder.packet('a release that was too long on its way', late));
}

function questions(recorder: Recorder): void {
  for (const effect of recorder.packet('a slot is asked for', recorder.command({ kind: 'slots-read', slot: 7 }))) {
    if (effect.kind !== 'ask') continue;
    const { ticket } = effect;
    recorder.pass(
      recorder.input('there are none', { kind: 'refuse', at: recorder.uptime(), ticket, result: 'unsupported' }),
    );
    const late = { session: ticket.session + 1, request: ticket.request };
    recorder.input('an answer of another session', {
      kind: 'refuse',
      at: recorder.uptime(),
      ticket: late,
      result: 'unsupported',
    });
  }
}

function strange(recorder: Recorder): void {
  recorder.packet(
    'a command this version does not know, with a number',
    recorder.record(Buffer.from('a300181f01186302182a', 'hex')),
  );
  recorder.packet(
    'a release with a key too many',
    recorder.record(Buffer.from('a5000101186402 1a000fffff 03187d0900'.replaceAll(' ', ''), 'hex')),
  );
  recorder.packet('no map', recorder.record(Buffer.from('00', 'hex')));
  recorder.packet('nothing at all', new Uint8Array(0));
  recorder.packet('another version', Uint8Array.of(2, 3, 0, 0));
  recorder.packet('another type', Uint8Array.of(1, 9, 0, 0));
  recorder.packet('a counter above 2^53 - 1', Uint8Array.from([1, 3, 0, 0x20, 0, 0, 0, 0, 0, 0, ...bytes(3, 20)]));
  recorder.packet('a record shorter than its tag', Uint8Array.from([1, 3, 0, 0, 0, 0, 0, 0, 0, 99, ...bytes(3, 15)]));
  recorder.packet('a record of no session', Uint8Array.from([1, 3, 0, 0, 0, 0, 0, 0, 0, 99, ...bytes(3, 30)]));
  recorder.packet('a handshake under another key', Uint8Array.from([1, 1, ...bytes(4, 48)]));
  recorder.packet('another one within a minute', Uint8Array.from([1, 1, ...bytes(5, 48)]));
  recorder.packet('a word meant for gateways', Uint8Array.of(1, 4, 0));
}

function news(recorder: Recorder): void {
  const at = recorder.uptime();
  recorder.input('a card', {
    kind: 'tell',
    at,
    message: { kind: 'card', ageMs: 40, bits: Uint8Array.of(0x12, 0x34, 0x56, 0x40), unusedBits: 6 },
  });
  recorder.input('keys', { kind: 'tell', at, message: { kind: 'keys', ageMs: 0, keys: '1234#' } });
  recorder.input('an event', {
    kind: 'tell',
    at,
    message: { kind: 'event', ageMs: 900, what: 'slot-used', detail: 12 },
  });
}

function rotation(recorder: Recorder): void {
  const key = bytes(2);
  const begun = recorder.packet('a new key', recorder.command({ kind: 'key-rotate', key }));
  recorder.input('both keys are stored', { kind: 'keys', at: recorder.uptime(), key: config.key, candidate: key });
  recorder.pass(recorder.finish('the rotation is done', begun));
  recorder.at += 2_000;
  recorder.connect('under the new key');
  const release = recorder.command({ kind: 'release', ms: 1_000 });
  recorder.pass(recorder.finish('done in the new session', recorder.packet('a release in the new session', release)));
}

/** A handshake that is answered and never proven leaves the session before it as it was. */
function unproven(recorder: Recorder): void {
  recorder.at += 2_000;
  const stranger = createGatewaySession({ deviceId: config.deviceId, key: bytes(2) });
  const { effects } = stepGatewaySession(stranger, { kind: 'tick', at: recorder.at, entropy: bytes(99) });
  for (const effect of effects) {
    if (effect.kind !== 'transmit') continue;
    recorder.packet('a second handshake, never proven', effect.bytes);
    recorder.at += 200;
    recorder.packet('the same handshake too soon', effect.bytes);
  }
  const release = recorder.command({ kind: 'release', ms: 1_500 });
  recorder.packet('the session before it goes on', release);
}

/** The whole vector. */
export function sessionVector() {
  const recorder = new Recorder();
  recorder.connect('first');
  commands(recorder);
  questions(recorder);
  news(recorder);
  strange(recorder);
  rotation(recorder);
  unproven(recorder);
  const { vendor, model, serial, firmware, abilities } = config.identity;
  return {
    deviceId: config.deviceId,
    key: hexOf(config.key),
    identity: { vendor, model, serial, firmware, abilities },
    steps: recorder.steps,
  };
}

/** Records of a known key, for whoever begins below the handshake. */
export function recordVectors() {
  const keys = { toResponder: bytes(7), toInitiator: bytes(8), hash: bytes(9) };
  const gateway = openChannel(keys, 'gateway');
  return [0, 1, 255, 256, 65_535, 4_294_967_296, Number.MAX_SAFE_INTEGER].map((counter) => {
    const clear = Buffer.from('a3000401010218ff', 'hex');
    const { bytes: packet } = sealRecord({ ...gateway, sendCounter: counter }, clear);
    return { key: hexOf(keys.toResponder), counter: String(counter), clear: hexOf(clear), packet: hexOf(packet) };
  });
}
