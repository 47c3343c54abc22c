/**
 * Writes the traffic of lines into a pcapng file that common network tools open.
 *
 * Guarantee: never overwrites a file; readable by its owner only; redacted as `redactFrame` says; the line never waits
 * for the disk (packets that the disk cannot take are left out and counted), and a full or failing disk ends the capture,
 * not the gateway. The file is whole after each packet.
 * Not promised: damaged bytes; of them only the count is kept, since they may be a damaged secret.
 */

import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import type { LineTraffic } from '#gateway/device/driver.ts';
import { encodeInterface, encodePacket, encodeSectionHeader } from '#gateway/device/pcapng.ts';
import { longestFrame } from '#protocol/osdp/frame.ts';
import type { LineId } from '#shared/identifier.ts';
import { elapsedMs, type MonoMs, type WallMs } from '#shared/instant.ts';
import { type Captured, type CaptureEars, captureFrames, noEars } from './capture-frames.ts';
import { redactFrame } from './capture-redaction.ts';
import { describeCaptured } from './capture-text.ts';

export interface CaptureFileSettings {
  /** One instant on both clocks, so that packets carry wall time. */
  readonly anchor: { readonly mono: MonoMs; readonly wall: WallMs };
  /** Named in the file as its writer. */
  readonly application: string;
  /** The capture ends before the file grows past it. */
  readonly mostBytes: number;
}

export interface CaptureSummary {
  readonly packets: number;
  /** Left out because the disk was slower than the line. */
  readonly leftOut: number;
  readonly bytes: number;
  /** `full`: the file reached its limit. */
  readonly end: 'closed' | 'full' | 'failed';
  readonly fault: Error | undefined;
}

export interface CaptureFile {
  /** Returns at once. After the end of the capture it does nothing. */
  write(traffic: LineTraffic): void;
  /** Resolves when everything written is handed to the system. */
  close(): Promise<CaptureSummary>;
}

/** What may wait for the disk, bytes. */
const mostWaiting = 1 << 20;

/**
 * @param path a file that does not exist yet.
 * @throws the system's error (`EEXIST`, `ENOENT`, `EACCES`, …) if it cannot be created.
 */
export async function openCaptureFile(path: string, settings: CaptureFileSettings): Promise<CaptureFile> {
  const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  await once(stream, 'open');
  return new PcapngFile(stream, settings);
}

class PcapngFile implements CaptureFile {
  readonly #stream: WriteStream;
  readonly #settings: CaptureFileSettings;
  readonly #interfaces = new Map<LineId, number>();
  #ears: CaptureEars = noEars;
  #summary: CaptureSummary = { packets: 0, leftOut: 0, bytes: 0, end: 'closed', fault: undefined };

  constructor(stream: WriteStream, settings: CaptureFileSettings) {
    this.#stream = stream;
    this.#settings = settings;
    stream.on('error', (fault) => {
      this.#summary = { ...this.#summary, end: 'failed', fault };
    });
    this.#put(encodeSectionHeader(settings.application));
  }

  write(traffic: LineTraffic): void {
    if (this.#summary.end !== 'closed' || this.#stream.writableEnded) return;
    const { ears, captured } = captureFrames(this.#ears, traffic);
    this.#ears = ears;
    for (const each of captured) this.#writePacket(each);
  }

  async close(): Promise<CaptureSummary> {
    if (!this.#stream.closed) {
      const closed = new Promise<void>((resolve) => this.#stream.once('close', resolve));
      this.#stream.end();
      await closed;
    }
    return this.#summary;
  }

  #writePacket(captured: Captured): void {
    if (this.#stream.writableLength > mostWaiting) {
      this.#summary = { ...this.#summary, leftOut: this.#summary.leftOut + 1 };
      return;
    }
    const known = this.#interfaces.get(captured.line);
    const number = known ?? this.#interfaces.size;
    const blocks = known === undefined ? [encodeInterface(captured.line, longestFrame)] : [];
    blocks.push(packetOf(captured, number, this.#settings.anchor));
    const length = blocks.reduce((sum, block) => sum + block.length, 0);
    if (this.#summary.end !== 'closed') return;
    if (this.#summary.bytes + length > this.#settings.mostBytes) {
      this.#summary = { ...this.#summary, end: 'full' };
      return;
    }
    this.#interfaces.set(captured.line, number);
    for (const block of blocks) this.#put(block);
    this.#summary = { ...this.#summary, packets: this.#summary.packets + 1 };
  }

  #put(block: Uint8Array): void {
    this.#stream.write(block);
    this.#summary = { ...this.#summary, bytes: this.#summary.bytes + block.length };
  }
}

function packetOf(captured: Captured, number: number, anchor: CaptureFileSettings['anchor']): Uint8Array {
  const bytes = captured.kind === 'frame' ? redactFrame(captured.frame, captured.isUnderPublicKey) : new Uint8Array(0);
  return encodePacket({
    interface: number,
    atMicroseconds: BigInt(Math.round((anchor.wall + elapsedMs(anchor.mono, captured.at)) * 1_000)),
    direction: captured.direction === 'from-device' ? 'inbound' : 'outbound',
    bytes,
    originalLength: captured.kind === 'frame' ? bytes.length : captured.drops.bytes,
    comment: `${captured.line} ${describeCaptured(captured)}`,
  });
}
