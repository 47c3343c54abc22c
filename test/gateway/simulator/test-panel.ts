/**
 * A panel of ours on a TCP line, for one reader: the panel session with a socket and a clock, and nothing else.
 * What a bus adds (fairness, many readers) is left out, so that a test sees what the peer does.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { type Frame, mark } from '#protocol/osdp/frame.ts';
import { createFrameParser, parseFrames } from '#protocol/osdp/frame-parser.ts';
import type { PanelCommand, PanelConfig, PanelEffect, PanelInput } from '#protocol/osdp/panel-port.ts';
import { stepPanelSession } from '#protocol/osdp/panel-session.ts';
import { createPanelSession } from '#protocol/osdp/panel-state.ts';
import { waitUntil } from '../../fakes/wait-until.ts';

type Kind = PanelEffect['kind'];
type Of<K extends Kind> = Extract<PanelEffect, { kind: K }>;

export interface TestPanel {
  /** Everything but transmissions and pauses, oldest first. */
  readonly effects: readonly PanelEffect[];
  of<K extends Kind>(kind: K): readonly Of<K>[];
  /** Waits for an effect of a kind beyond the first `after` of it. */
  next<K extends Kind>(kind: K, after?: number): Promise<Of<K>>;
  command(command: PanelCommand): Promise<Of<'command-done'>>;
  tell(input: PanelInput): void;
  readonly badBytes: () => number;
  close(): Promise<void>;
}

const now = () => performance.now();

export function openTestPanel(port: number, config: PanelConfig): TestPanel {
  const effects: PanelEffect[] = [];
  let state = createPanelSession(config);
  let parser = createFrameParser('replies');
  let badBytes = 0;
  let commandId = 0;
  let isClosed = false;
  let socket: Socket | undefined;
  let onFrame: ((frame: Frame | undefined) => void) | undefined;

  const step = (input: PanelInput): readonly PanelEffect[] => {
    const result = stepPanelSession(state, input);
    state = result.state;
    effects.push(...result.effects.filter((effect) => effect.kind !== 'transmit' && effect.kind !== 'skip'));
    return result.effects;
  };
  const hear = (bytes: Uint8Array) => {
    const parsed = parseFrames(parser, bytes);
    parser = parsed.state;
    badBytes += parsed.drops.bytes;
    for (const frame of parsed.frames) onFrame?.(frame);
  };
  const dial = () =>
    new Promise<void>((done) => {
      const dialled = connect(port, '127.0.0.1', done);
      dialled.setNoDelay(true);
      dialled.on('data', hear);
      dialled.on('error', () => done());
      dialled.on('close', () => {
        socket = undefined;
      });
      socket = dialled;
    });
  const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

  const exchange = async (bytes: Uint8Array, timeoutMs: number): Promise<Frame | undefined> => {
    parser = createFrameParser('replies');
    const answer = new Promise<Frame | undefined>((done) => {
      onFrame = done;
      setTimeout(() => done(undefined), timeoutMs);
    });
    socket?.write(Uint8Array.of(mark, ...bytes));
    return await answer;
  };
  const run = async () => {
    while (!isClosed) {
      if (socket === undefined) await dial();
      const wanted = step({ kind: 'turn', at: now(), entropy: randomBytes(8) });
      for (const effect of wanted) {
        if (effect.kind === 'skip') await pause(Math.min(50, Math.max(1, effect.until - now())));
        if (effect.kind !== 'transmit') continue;
        const frame = await exchange(effect.bytes, effect.replyTimeoutMs);
        step(frame === undefined ? { kind: 'no-reply', at: now() } : { kind: 'reply', at: now(), frame });
        await pause(5);
      }
    }
  };
  const running = run();
  const of = <K extends Kind>(kind: K) => effects.filter((effect): effect is Of<K> => effect.kind === kind);
  const next = async <K extends Kind>(kind: K, after = 0): Promise<Of<K>> => {
    await waitUntil(`the panel’s ${kind} number ${after + 1}`, () => of(kind).length > after);
    const found = of(kind)[after];
    if (found === undefined) throw new Error(`no ${kind}`);
    return found;
  };
  return {
    effects,
    of,
    next,
    command: async (command) => {
      const id = ++commandId;
      step({ kind: 'command', at: now(), id, command, deadline: now() + 2_000 });
      await waitUntil(`command ${id} to be done`, () => of('command-done').some((done) => done.id === id));
      const done = of('command-done').find((candidate) => candidate.id === id);
      if (done === undefined) throw new Error(`command ${id} is lost`);
      return done;
    },
    tell: (input) => void step(input),
    badBytes: () => badBytes,
    close: async () => {
      isClosed = true;
      await running;
      socket?.destroy();
    },
  };
}
