/**
 * Traffic of lines as text, one line a frame, for a person who watches.
 *
 * For example `   12.345 front-door -> 05 #2 SCS_15 POLL`: seconds since the capture began, line, frame.
 * Guarantee: redacted as `describeFrame` redacts; damage is said, not shown.
 * Pure: `(state, traffic) → {state, lines}`.
 */

import type { LineTraffic } from '#gateway/device/driver.ts';
import { describeFrame } from '#protocol/osdp/describe.ts';
import type { FrameDrops } from '#protocol/osdp/frame-parser.ts';
import { elapsedMs, type MonoMs } from '#shared/instant.ts';
import { type Captured, type CaptureEars, captureFrames, noEars } from './capture-frames.ts';

export interface CaptureText {
  /** When the first traffic was seen; `undefined` before. */
  readonly startedAt: MonoMs | undefined;
  readonly ears: CaptureEars;
}

export const emptyCaptureText: CaptureText = { startedAt: undefined, ears: noEars };

export interface CaptureTextStep {
  readonly state: CaptureText;
  readonly lines: readonly string[];
}

export function captureText(state: CaptureText, traffic: LineTraffic): CaptureTextStep {
  const startedAt = state.startedAt ?? traffic.at;
  const { ears, captured } = captureFrames(state.ears, traffic);
  return { state: { startedAt, ears }, lines: captured.map((each) => lineOf(startedAt, each)) };
}

function lineOf(startedAt: MonoMs, captured: Captured): string {
  const seconds = (elapsedMs(startedAt, captured.at) / 1_000).toFixed(3).padStart(9);
  return `${seconds} ${captured.line} ${describeCaptured(captured)}`;
}

/** What was seen, without time and line. */
export function describeCaptured(captured: Captured): string {
  if (captured.kind === 'loss') return describeLoss(captured.drops, captured.direction);
  const isOurs = captured.frame.isReply === (captured.direction === 'from-device');
  const text = describeFrame(captured.frame);
  return isOurs ? text : `${text} (heard ${captured.direction}: an echo or another panel)`;
}

function describeLoss(drops: FrameDrops, direction: LineTraffic['direction']): string {
  const reasons = [
    [drops.badCheck, 'wrong check'],
    [drops.badLength, 'impossible length'],
    [drops.badStructure, 'impossible structure'],
    [drops.expired, 'cut short'],
  ] as const;
  const found = reasons.filter(([times]) => times > 0).map(([times, what]) => `${times} × ${what}`);
  const bytes = `${drops.bytes} byte${drops.bytes === 1 ? '' : 's'}`;
  return `?? ${bytes} ${direction} that are no message${found.length === 0 ? '' : `: ${found.join(', ')}`}`;
}
