/**
 * The port of a byte line: what a bus driver needs from a wire, whether it is a UART or a converter on the LAN.
 *
 * Guarantees: no call hangs, each has a deadline and fails with a `LineFault` that names what is wrong;
 * a line belongs to one process at a time where the kernel can enforce it; `lost` is told at most once, and not after `close`.
 * Not promised: that a silent line is a live one. A wire can be cut without a sign, so the user of a line judges by good bytes.
 */
import type { MonoMs } from '#shared/instant.ts';

/**
 * missing: no such port or host · not-permitted: the system refuses us · busy: another process has it ·
 * unreachable: the network or the converter refuses · lost: it was open and went away · timed-out: a call did not end ·
 * failed: anything else the system says.
 */
export type LineFaultCode = 'missing' | 'not-permitted' | 'busy' | 'unreachable' | 'lost' | 'timed-out' | 'failed';

export type LineState = 'opening' | 'open' | 'closed' | LineFaultCode;

export class LineFault extends Error {
  readonly code: LineFaultCode;

  constructor(code: LineFaultCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LineFault';
    this.code = code;
  }
}

export interface LineListener {
  /** @param at when the bytes arrived, read before anything else is done with them. */
  bytes(bytes: Uint8Array, at: MonoMs): void;
  lost(fault: LineFault): void;
}

export interface Line {
  /** Between us and the wire stands something that delivers bytes late and in clumps (USB, network). */
  readonly isBridged: boolean;
  /** Resolves when the last byte has left, as well as the system can tell; behind a bridge it may still be on its way. */
  write(bytes: Uint8Array): Promise<void>;
  /** Throws away what arrived and was not yet told. */
  discardInput(): Promise<void>;
  /** @param baud bits per second. A converter keeps its own rate: there it only counts for timing. */
  setBaud(baud: number): Promise<void>;
  /** Fails if what was opened is no longer what its name leads to. */
  check(): Promise<void>;
  /** Never fails; a line that will not close is left behind. */
  close(): Promise<void>;
}

export type OpenLine = (listener: LineListener) => Promise<Line>;

export type LineConfig =
  | { readonly id: string; readonly kind: 'serial'; readonly path: string; readonly baud: number }
  | {
      readonly id: string;
      readonly kind: 'tcp';
      readonly host: string;
      readonly port: number;
      /** The converter's rate on the wire; needed to reckon how long bytes travel. */
      readonly baud: number;
    };
