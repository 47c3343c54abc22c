/**
 * Finds readers on a line that nothing is known about, and gives a reader its address and rate.
 *
 * Guarantees: only identities are asked, in plain, at sequence 0, which changes nothing at a reader but its conversation;
 * the search ends after a known number of tries; a changed reader is believed only where it answers afterwards.
 * Not promised: that what answers tells the truth. Two readers at one address, or several answering to the broadcast
 * address, spoil each other's replies: that is asked only where there is one reader.
 *
 * The line must be free: no bus may have it open.
 */
import { broadcastAddress, encodeFrame, type Sequence } from '#protocol/osdp/frame.ts';
import { type Command, type DecodedReply, decodeReply, encodeCommand } from '#protocol/osdp/message.ts';
import type { MonoMs } from '#shared/instant.ts';
import { pause } from '../deadline.ts';
import type { DeviceIdentity } from '../driver.ts';
import type { Line, LineConfig } from '../line.ts';
import { lineOpener } from '../open-line.ts';
import { LineExchange } from './line-exchange.ts';
import { deviceIdentity } from './reader-identity.ts';

export const discoveryBauds = [9_600, 19_200, 38_400, 57_600, 115_200, 230_400] as const;

const tryMs = 250;
/** Readers need 50–100 ms to change over. */
const changeOverMs = 100;

export interface Place {
  /** 0x00–0x7E; 0x7F for a reader that answered the broadcast, whose address is not known yet. */
  readonly address: number;
  readonly baud: number;
}

export interface FoundDevice extends Place {
  /** `undefined` if it answered without saying who it is. */
  readonly identity: DeviceIdentity | undefined;
}

export interface Progress {
  readonly place: Place;
  /** Tries so far, of `total`. */
  readonly tried: number;
  readonly total: number;
  readonly found: readonly FoundDevice[];
}

export interface Search {
  readonly line: LineConfig;
  readonly bauds: readonly number[];
  /** Tried at each rate, besides 0. */
  readonly addresses: readonly number[];
  /** One reader at most is on the line: then it is also asked by broadcast. */
  readonly isAlone: boolean;
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

export type Relocation =
  /** It answers there now; the values may differ from the asked ones, since the reader decides. */
  | { readonly kind: 'moved'; readonly place: Place; readonly identity: DeviceIdentity | undefined }
  /** It answers where it was. */
  | { readonly kind: 'stayed'; readonly reason: 'refused' | 'not-applied' }
  | { readonly kind: 'lost' };

/** @throws LineFault if the line fails; finding nothing is an empty list. */
export async function discoverDevices(search: Search, now: () => MonoMs): Promise<readonly FoundDevice[]> {
  const { addresses, isAlone, bauds, signal } = search;
  const asked = [...new Set([...addresses, 0])];
  const places = bauds.flatMap((baud) => asked.map((address) => ({ address, baud })));
  const total = places.length + (isAlone ? bauds.length : 0);
  const found: FoundDevice[] = [];
  let tried = 0;
  await withLine(search.line, now, async (seeker) => {
    const ask = async (place: Place) => {
      if (signal.aborted) return;
      const answer = await seeker.identify(place);
      if (answer !== undefined) found.push({ ...place, identity: answer.identity });
      tried += 1;
      search.onProgress({ place, tried, total, found: [...found] });
    };
    for (const baud of bauds) {
      for (const address of asked) await ask({ address, baud });
      const isKnown = found.some((device) => device.baud === baud);
      if (isAlone && !isKnown) await ask({ address: broadcastAddress, baud });
      else if (isAlone) tried += 1;
    }
  });
  return found;
}

/**
 * Moves a reader to another address and rate, and looks where it answers: the new values first, then the old.
 * @throws LineFault if the line fails.
 */
export async function relocateDevice(
  config: LineConfig,
  from: Place,
  to: Place,
  now: () => MonoMs,
): Promise<Relocation> {
  let relocation: Relocation = { kind: 'lost' };
  await withLine(config, now, async (seeker) => {
    relocation = await relocate(seeker, from, to);
  });
  return relocation;
}

async function relocate(seeker: Seeker, from: Place, to: Place): Promise<Relocation> {
  if ((await seeker.identify(from)) === undefined) return { kind: 'lost' };
  const reply = await seeker.ask(from, { kind: 'set-communication', address: to.address, baud: to.baud }, 1);
  if (reply?.kind === 'nak') return { kind: 'stayed', reason: 'refused' };
  const announced = reply?.kind === 'communication' ? [{ address: reply.address, baud: reply.baud }] : [];
  await pause(changeOverMs, new AbortController().signal);
  for (const place of [...announced, to]) {
    const answer = await seeker.identify(place);
    if (answer !== undefined && !isSame(place, from)) return { kind: 'moved', place, identity: answer.identity };
  }
  return (await seeker.identify(from)) === undefined ? { kind: 'lost' } : { kind: 'stayed', reason: 'not-applied' };
}

function isSame(a: Place, b: Place): boolean {
  return a.address === b.address && a.baud === b.baud;
}

async function withLine(config: LineConfig, now: () => MonoMs, use: (seeker: Seeker) => Promise<void>): Promise<void> {
  let exchange: LineExchange | undefined;
  const line = await lineOpener(
    config,
    now,
  )({
    bytes: (bytes, at) => exchange?.receive(bytes, at),
    // The next write fails and says so.
    lost: () => {},
  });
  try {
    exchange = new LineExchange(line, config.baud, deaf, now);
    await use(new Seeker(line, exchange, config.baud));
  } finally {
    await line.close();
  }
}

/** While searching, nobody is told about strangers. */
const deaf = { foreign: () => {}, echo: () => {}, stray: () => {}, damaged: () => {}, sent: () => {} };

class Seeker {
  readonly #line: Line;
  readonly #exchange: LineExchange;
  #baud: number;

  constructor(line: Line, exchange: LineExchange, baud: number) {
    this.#line = line;
    this.#exchange = exchange;
    this.#baud = baud;
  }

  /** @returns `undefined` if nobody answers. */
  async identify(place: Place): Promise<{ readonly identity: DeviceIdentity | undefined } | undefined> {
    const reply = await this.ask(place, { kind: 'id', form: 0 }, 0);
    if (reply === undefined) return undefined;
    return { identity: reply.kind === 'identity' ? deviceIdentity(reply) : undefined };
  }

  async ask(place: Place, command: Command, sequence: Sequence): Promise<DecodedReply | undefined> {
    await this.#tune(place.baud);
    const frame = {
      address: place.address,
      isReply: false,
      sequence,
      check: 'crc',
      security: undefined,
      ...encodeCommand(command),
    } as const;
    const answer = await this.#exchange.ask({ bytes: encodeFrame(frame), timeoutMs: tryMs, address: place.address });
    return answer.kind === 'reply' ? decodeReply(answer.frame.code, answer.frame.data) : undefined;
  }

  async #tune(baud: number): Promise<void> {
    if (this.#baud === baud) return;
    await this.#line.setBaud(baud);
    this.#exchange.setBaud(baud);
    this.#baud = baud;
  }
}
