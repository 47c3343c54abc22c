import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeFrame, type Frame } from '#protocol/osdp/frame.ts';
import { decodeCommand, decodeReply } from '#protocol/osdp/message.ts';
import type { PanelCommand, PanelConfig, PanelInput } from '#protocol/osdp/panel-port.ts';
import { stepPanelSession } from '#protocol/osdp/panel-session.ts';
import { createPanelSession } from '#protocol/osdp/panel-state.ts';
import type { PeripheralConfig, Presentable } from '#protocol/osdp/peripheral-port.ts';
import { stepPeripheralSession } from '#protocol/osdp/peripheral-session.ts';
import { createPeripheralSession } from '#protocol/osdp/peripheral-state.ts';
import { otherKey, readerCapabilities, readerIdentity, readerKey } from './session-bench.ts';
import { fromHex, traceNames } from './trace.ts';
import { TraceObserver } from './trace-observer.ts';

/**
 * Every recorded session, replayed against both of our ends: given the recorded counterpart, the recorded random values
 * and the recorded wishes, each end must produce the recorded bytes. Where it must not, a table says so and why.
 */
interface Row {
  readonly t: number;
  readonly dir: 'CP>PD' | 'PD>CP' | 'PD-xx' | 'told';
  readonly frame: Frame | undefined;
  readonly note: string;
}

const folder = new URL('./traces/', import.meta.url);

function rowsOf(name: string): readonly Row[] {
  const text = readFileSync(new URL(`${name}.json`, folder), 'utf8');
  const rows = JSON.parse(text) as { t?: number; dir?: Row['dir']; hex?: string; note?: string; peer?: string }[];
  let t = 0;
  return rows.map((row) => {
    t = row.t ?? t;
    const bytes = fromHex((row.hex ?? '').replace(/^(ff)+/, ''));
    const decoding = decodeFrame(bytes);
    const frame = decoding.kind === 'frame' ? decoding.frame : undefined;
    return { t, dir: row.dir ?? 'told', frame, note: row.note ?? row.peer ?? '' };
  });
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array | undefined): boolean =>
  one !== undefined && other !== undefined && Buffer.compare(one, other) === 0;

/** The addresses of a session and the key of each; `undefined` is plain. */
function keysOf(name: string): ReadonlyMap<number, Uint8Array | undefined> {
  if (name.startsWith('24'))
    return new Map([
      [1, readerKey],
      [2, otherKey],
      [3, undefined],
    ]);
  if (name.startsWith('23')) return new Map([[9, undefined]]);
  return new Map([[0, /^(02|03|04|06|07|09|10|14|16|18|20|21|25)/.test(name) ? readerKey : undefined]]);
}

type Deviations = Readonly<Record<string, readonly (readonly [atMs: number, reason: string])[]>>;

/** Frames of ours that differ from the recording, by session and time, and why they should. */
const panelDeviations: Deviations = {
  '03-install-mode-scbkd-keyset': [[91.7, 'between two keys we begin anew at sequence 0, with a fresh nonce']],
  '08-corrupt-reply': [[1869.5, 'one damaged reply is no lost reader: we repeat the same bytes']],
  '09-pd-silent-offline-then-back': [
    [8409.6, 'eight seconds of silence are over: we begin anew, the other repeats once more'],
  ],
  '18-wrong-key': [[93.7, 'a wrong key leads neither to the public key nor to plain speech']],
  '22-comset-address-and-baud': [[417.4, 'with new values we begin at sequence 0']],
  '23-comset-broadcast': [[362.1, 'a session speaks to its own address; the broadcast is a tool of its own']],
  '27-wrong-sequence-from-pd': [[1862.5, 'a reply out of sequence is noise: we repeat the same bytes']],
};
const readerDeviations: Deviations = {
  '03-install-mode-scbkd-keyset': [[79.8, 'a reader without a key refuses the handshake instead of using all zeros']],
  '18-wrong-key': [[93.7, 'asked for the public key we do not answer with our own']],
};

interface Replayed {
  readonly same: number;
  readonly differentAt: readonly number[];
}

// -- panel

const entropyOf = (frame: Frame): Uint8Array => (frame.code === 0x76 ? frame.data : new Uint8Array(8));
const isPoll = (frame: Frame): boolean => frame.code === 0x60;

class PanelReplay {
  private state;
  private at = 0;
  private readonly observer = new TraceObserver([readerKey, otherKey]);

  constructor(address: number, key: Uint8Array | undefined) {
    const security: PanelConfig['security'] = key === undefined ? { mode: 'plain' } : { mode: 'secure', key };
    this.state = createPanelSession({ address, check: 'crc', security, inquiries: [], wakeWithPoll: false });
  }

  /** The recorded panel sent this; what do we send? */
  send(row: Row & { readonly frame: Frame }): Uint8Array | undefined {
    this.at = Math.max(this.at, row.t);
    const data = this.observer.see(row.frame);
    if (this.state.exchange === undefined && this.state.stage.kind === 'up') this.wish(row.frame, data);
    for (let tries = 0; tries < 5; tries += 1) {
      const effects = this.tell({ kind: 'turn', at: this.at, entropy: entropyOf(row.frame) });
      const transmit = effects.find((effect) => effect.kind === 'transmit');
      if (transmit !== undefined) return transmit.bytes;
      const skip = effects.find((effect) => effect.kind === 'skip');
      if (skip !== undefined) this.at = Math.max(this.at, skip.until);
    }
    return undefined;
  }

  hear(frame: Frame | undefined): void {
    if (frame !== undefined) this.observer.see(frame);
    this.tell(frame === undefined ? { kind: 'no-reply', at: this.at } : { kind: 'reply', at: this.at, frame });
  }

  /** The reader made this and it did not arrive. */
  overhear(frame: Frame | undefined): void {
    if (frame !== undefined) this.observer.see(frame);
  }

  private wish(frame: Frame, data: Uint8Array): void {
    if (isPoll(frame) || frame.sequence === 0) return;
    const command = decodeCommand(frame.code, data);
    if (command.kind === 'set-key') {
      this.tell({ kind: 'rekey', at: this.at, key: command.key });
      return;
    }
    const deadline = this.at + 60_000;
    this.tell({ kind: 'command', at: this.at, id: 1, command: command as PanelCommand, deadline });
  }

  private tell(input: PanelInput) {
    const step = stepPanelSession(this.state, input);
    this.state = step.state;
    return step.effects;
  }
}

function replayPanel(rows: readonly Row[], address: number, key: Uint8Array | undefined): Replayed {
  const mine = rows.filter((row) => row.dir !== 'told');
  const differentAt: number[] = [];
  let same = 0;
  let panel: PanelReplay | undefined = new PanelReplay(address, key);
  const warmUp: readonly Row[] = mine.slice(0, 4);
  for (const [index, row] of mine.entries()) {
    const begins = row.dir === 'CP>PD' && row.frame?.sequence === 0;
    if (panel === undefined && begins) {
      panel = new PanelReplay(address, key);
      if (row.frame?.code === 0x76) for (const [i, w] of warmUp.entries()) feed(panel, warmUp, w, i);
    }
    if (panel === undefined) continue;
    const outcome = feed(panel, mine, row, index);
    if (outcome === true) same += 1;
    if (outcome === false) {
      differentAt.push(row.t);
      panel = undefined;
      // The difference may itself be the beginning of a conversation, which a fresh panel begins alike.
      if (begins) {
        panel = new PanelReplay(address, key);
        if (feed(panel, mine, row, index) === true) same += 1;
      }
    }
  }
  return { same, differentAt };
}

/** @returns whether our bytes were the recorded ones; `undefined` for a row that is not the panel's. */
function feed(panel: PanelReplay, rows: readonly Row[], row: Row, index: number): boolean | undefined {
  if (row.dir === 'CP>PD') {
    const frame = row.frame;
    const isOurs = frame !== undefined && isSame(panel.send({ ...row, frame }), frame.bytes);
    const next = rows[index + 1];
    if (isOurs && (next === undefined || next.dir === 'CP>PD')) panel.hear(undefined);
    return isOurs;
  }
  const command = rows.slice(0, index).findLast((before) => before.dir === 'CP>PD');
  const nextCommand = rows.slice(index).find((after) => after.dir === 'CP>PD');
  const isBusy = row.frame?.code === 0x79;
  const cameTooLate = !isBusy && isSame(command?.frame?.bytes, nextCommand?.frame?.bytes);
  const isReplaced = row.dir === 'PD-xx' && rows[index + 1]?.dir === 'PD>CP';
  if (isReplaced) panel.overhear(undefined);
  else if (row.dir === 'PD-xx' || cameTooLate) panel.overhear(row.frame);
  if (isReplaced) return undefined;
  panel.hear(row.dir === 'PD-xx' || cameTooLate ? undefined : row.frame);
  return undefined;
}

// -- reader

function readerOf(name: string, address: number, key: Uint8Array | undefined): PeripheralConfig {
  const isSmall = name.startsWith('12');
  const small = [
    [1, 1, 2],
    [4, 1, 1],
    [8, 1, 0],
    [9, 0, 0],
    [10, 0, 1],
    [16, 2, 0],
  ] as const;
  const serial = readerIdentity.serial + (name.startsWith('24') ? address - 1 : 0);
  const held = name.startsWith('18') ? otherKey : name.startsWith('19') ? readerKey : key;
  return {
    address,
    check: name.startsWith('26') ? 'checksum' : 'crc',
    isInstallMode: name.startsWith('03'),
    requireSecure: name.startsWith('19'),
    identity: { ...readerIdentity, serial },
    capabilities: isSmall
      ? small.map(([number, level, count]) => ({ function: number, level, count }))
      : readerCapabilities(held !== undefined),
    uid: Uint8Array.from([0x0c, 0x0b, 0x01, 0x00, serial & 0xff, 0x03, 0x02, 0x01]),
    allowsCommunication: true,
    longestFile: 4_096,
    hasReadableStatus: true,
    ...(held !== undefined && !name.startsWith('03') && { key: held }),
  };
}

function replayReader(rows: readonly Row[], config: PeripheralConfig): Replayed {
  const observer = new TraceObserver([readerKey, otherKey]);
  const differentAt: number[] = [];
  let same = 0;
  let state = createPeripheralSession(config);
  for (const [index, row] of rows.entries()) {
    if (row.dir === 'told' && row.note.startsWith('reboot')) state = createPeripheralSession(config);
    const { frame } = row;
    if (row.dir !== 'CP>PD' || frame === undefined) continue;
    observer.see(frame);
    const answer = rows.slice(index + 1).find((next) => next.dir !== 'told');
    if (answer?.note.includes('not seen')) continue;
    if (answer?.frame !== undefined && isPoll(frame)) {
      const told = decodeReply(answer.frame.code, observer.see(answer.frame));
      const isEvent = !['ack', 'nak', 'busy'].includes(told.kind);
      const isRepeat = isSame(state.last?.command, frame.bytes);
      if (isEvent && !isRepeat) {
        state = stepPeripheralSession(state, { kind: 'present', at: row.t, reply: told as Presentable }).state;
      }
    } else if (answer?.frame !== undefined) {
      observer.see(answer.frame);
    }
    const entropy = answer?.frame?.code === 0x76 ? answer.frame.data.slice(8, 16) : new Uint8Array(8);
    const step = stepPeripheralSession(state, { kind: 'frame', at: row.t, frame, entropy });
    state = step.state;
    const isFalsified = answer !== undefined && /injected|corrupt|bad MAC|wrong sequence/.test(answer.note);
    if (isFalsified) continue;
    const transmit = step.effects.find((effect) => effect.kind === 'transmit');
    if (isSame(transmit?.bytes, answer?.frame?.bytes)) same += 1;
    else differentAt.push(row.t);
  }
  return { same, differentAt };
}

// -- all of them

const cases = traceNames.flatMap((name) => [...keysOf(name)].map(([address, key]) => ({ name, address, key })));
const isAt = (address: number, name: string) => (row: Row) =>
  !name.startsWith('24') || row.dir === 'told' || row.frame?.address === address;

describe('our panel speaks like the recorded one', () => {
  it.each(cases)('in $name at address $address', ({ name, address, key }) => {
    const rows = rowsOf(name).filter(isAt(address, name));
    const replayed = replayPanel(rows, address, key);
    expect(replayed.differentAt).toEqual((panelDeviations[name] ?? []).map(([at]) => at));
    expect(replayed.same).toBeGreaterThan(2);
  });
});

describe('our reader speaks like the recorded one', () => {
  it.each(cases)('in $name at address $address', ({ name, address, key }) => {
    const rows = rowsOf(name).filter(isAt(address, name));
    const replayed = replayReader(rows, readerOf(name, address, key));
    expect(replayed.differentAt).toEqual((readerDeviations[name] ?? []).map(([at]) => at));
    expect(replayed.same).toBeGreaterThan(2);
  });
});
