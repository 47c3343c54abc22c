/**
 * The next unknown card at one reader, for whoever enrols it in the cloud: sealed to the cloud, and never seen by the relay.
 *
 * One window at a time, opened by a signed command, over after its time or its card.
 */
import type { CardWindowAct } from '#shared/contract/sync/command.ts';
import { elapsedMs, type MonoMs } from '#shared/instant.ts';
import { sealFor } from '#shared/sealed-box.ts';
import { fromBase64url } from '#shared/signed-statement.ts';
import { bitsText } from '../access/unknown-reads.ts';
import type { AccessRequest } from '../door/access-request.ts';
import type { ReplicaReader } from '../replica/replica-reader.ts';

export interface SealedRead {
  readonly window: string;
  readonly reader: string;
  readonly sealed: string;
}

export class CardWindow {
  readonly #now: () => MonoMs;
  readonly #replica: Pick<ReplicaReader, 'readerAt'>;
  #open: { readonly act: CardWindowAct; readonly at: MonoMs } | undefined;
  #read: SealedRead | undefined;

  constructor(now: () => MonoMs, replica: Pick<ReplicaReader, 'readerAt'>) {
    this.#now = now;
    this.#replica = replica;
  }

  open(act: CardWindowAct): void {
    this.#open = { act, at: this.#now() };
    this.#read = undefined;
  }

  /** @param sealKey of the cloud's certificate. @returns whether the card was what the window waits for. */
  offer({ presented, device, head }: AccessRequest, sealKey: string): boolean {
    const open = this.#open;
    if (open === undefined || presented.kind === 'pin') return false;
    const isLate = elapsedMs(open.at, this.#now()) >= open.act.seconds * 1_000;
    if (isLate) this.#open = undefined;
    if (isLate || this.#replica.readerAt(device, head)?.id !== open.act.reader) return false;
    const secret = Buffer.from(JSON.stringify({ bits: bitsText(presented.card) }));
    const sealed = sealFor(fromBase64url(sealKey), 'card read', secret);
    this.#read = { window: open.act.window, reader: open.act.reader, sealed };
    this.#open = undefined;
    return true;
  }

  /** What waits to be sent. */
  get read(): SealedRead | undefined {
    return this.#read;
  }

  /** It was sent. */
  sent(window: string): void {
    if (this.#read?.window === window) this.#read = undefined;
  }
}
