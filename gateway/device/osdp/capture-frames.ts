/**
 * Traffic of lines, as it passed in pieces, put together into frames for a capture.
 *
 * Guarantee: every byte is in a frame, a mark, or counted in a loss; frames come in the order in which they ended.
 * Knows which secure channels run under the key everybody knows, since what they encrypt is not hidden.
 * Pure: `(state, traffic) → {state, captured}`.
 */

import type { LineTraffic } from '#gateway/device/driver.ts';
import type { Frame } from '#protocol/osdp/frame.ts';
import {
  createFrameParser,
  expireFrame,
  type FrameDrops,
  type FrameParser,
  type FrameStep,
  parseFrames,
} from '#protocol/osdp/frame-parser.ts';
import type { LineId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';

export type Captured = {
  /** When its last byte was seen. */
  readonly at: MonoMs;
  readonly line: LineId;
  readonly direction: LineTraffic['direction'];
} & (
  | {
      readonly kind: 'frame';
      readonly frame: Frame;
      /** Its channel, if it has one, is under SCBK-D: whoever records the line can decrypt it. */
      readonly isUnderPublicKey: boolean;
    }
  | { readonly kind: 'loss'; readonly drops: FrameDrops }
);

interface LineEar {
  readonly toDevice: FrameParser;
  readonly fromDevice: FrameParser;
  readonly lastAt: MonoMs;
  /** Addresses whose latest handshake asked for SCBK-D. */
  readonly publicKeyed: ReadonlySet<number>;
}

export type CaptureEars = ReadonlyMap<LineId, LineEar>;

export const noEars: CaptureEars = new Map();

/** Longest pause inside one message on lines that deliver in clumps. */
const gapMs = 150;
const challengeBlock = 0x11;

export interface CaptureStep {
  readonly ears: CaptureEars;
  readonly captured: readonly Captured[];
}

export function captureFrames(ears: CaptureEars, traffic: LineTraffic): CaptureStep {
  const { at, line, direction } = traffic;
  const ear = ears.get(line) ?? freshEar(at);
  const before = at - ear.lastAt > gapMs ? silenceOf(ear) : { ear, steps: [] };
  const side = direction === 'to-device' ? 'toDevice' : 'fromDevice';
  const step = parseFrames(before.ear[side], traffic.bytes);
  let publicKeyed = ear.publicKeyed;
  const captured: Captured[] = [];
  for (const { direction: from, step: each } of [...before.steps, { direction, step }]) {
    const head = { at, line, direction: from };
    if (each.drops.bytes > 0) captured.push({ ...head, kind: 'loss', drops: each.drops });
    for (const frame of [...each.foreign, ...each.frames]) {
      publicKeyed = keyedAfter(publicKeyed, frame);
      captured.push({ ...head, kind: 'frame', frame, isUnderPublicKey: publicKeyed.has(frame.address) });
    }
  }
  const after: LineEar = { ...before.ear, [side]: step.state, lastAt: at, publicKeyed };
  return { ears: new Map(ears).set(line, after), captured };
}

function freshEar(at: MonoMs): LineEar {
  return {
    toDevice: createFrameParser('commands'),
    fromDevice: createFrameParser('replies'),
    lastAt: at,
    publicKeyed: new Set(),
  };
}

interface Silence {
  readonly ear: LineEar;
  readonly steps: readonly { readonly direction: LineTraffic['direction']; readonly step: FrameStep }[];
}

function silenceOf(ear: LineEar): Silence {
  const toDevice = expireFrame(ear.toDevice);
  const fromDevice = expireFrame(ear.fromDevice);
  return {
    ear: { ...ear, toDevice: toDevice.state, fromDevice: fromDevice.state },
    steps: [
      { direction: 'to-device', step: toDevice },
      { direction: 'from-device', step: fromDevice },
    ],
  };
}

function keyedAfter(publicKeyed: ReadonlySet<number>, frame: Frame): ReadonlySet<number> {
  if (frame.isReply || frame.security?.type !== challengeBlock) return publicKeyed;
  const isPublic = frame.security.data[0] === 0;
  const addresses = new Set(publicKeyed);
  if (isPublic) addresses.add(frame.address);
  else addresses.delete(frame.address);
  return addresses;
}
