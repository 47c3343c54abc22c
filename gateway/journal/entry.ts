/**
 * What the journal holds: the gateway's ordered history, which is also what it will send to the cloud.
 *
 * A draft is written by the main thread; the journal thread gives it its place (epoch, seq), its chain and its durability.
 */
import type { CanonicalValue } from '#shared/canonical.ts';
import type { DoorId, RequestId } from '#shared/identifier.ts';
import type { WallMs } from '#shared/instant.ts';
import type { ClockState } from '../door/facts.ts';

/** Past tense: an entry is something that happened. */
export type EntryKind =
  | 'gateway.started'
  | 'gateway.stopped'
  | 'access.requested'
  | 'access.granted'
  | 'access.refused'
  /** The card of a card+PIN door was right so far; the PIN is awaited. */
  | 'access.challenged'
  /** Refusals of one episode of lock-out or slowing, counted. */
  | 'access.refusals-counted'
  | 'reads.discarded'
  | 'lock.released'
  | 'lock.secured'
  | 'lock.refused'
  | 'lock.not-executed'
  | 'release.unknown'
  /** Found at start: the process ended between the grant and what followed. */
  | 'release.interrupted'
  | 'door.opened'
  | 'door.closed'
  | 'door.state-changed'
  | 'door.mode-changed'
  | 'exit.requested'
  | 'command.received'
  | 'command.refused'
  /** Of a command whose end no door tells: it was so already, or moves no door. */
  | 'command.done'
  | 'device.online'
  | 'device.offline'
  | 'device.key-installed'
  | 'install-window.opened'
  | 'install-window.closed'
  | 'alarm.raised'
  | 'alarm.cleared'
  | 'clock.changed'
  | 'replica.applied'
  | 'journal.gap'
  | 'journal.lost'
  | 'storage.changed';

export interface EntryDraft {
  readonly kind: EntryKind;
  /** Wall time by the trusted clock; while it is untrusted, the machine's own wall clock, and `clockState` says so. */
  readonly at: WallMs;
  readonly clockState: ClockState;
  readonly door: DoorId | null;
  readonly requestId: RequestId | null;
  /** Ids, codes, counts: nothing that a person could not stand to see kept. */
  readonly body: { readonly [key: string]: CanonicalValue | undefined };
  /** Values about persons (a name as shown, a card's number): erasable; the chain holds only a salted hash. */
  readonly personal?: { readonly [key: string]: CanonicalValue | undefined };
}

export interface Entry extends Omit<EntryDraft, 'personal'> {
  /** One unbroken journal; a journal that lost its tail begins a new one. */
  readonly epoch: number;
  /** Gapless within an epoch, from 1. */
  readonly seq: number;
  readonly bootId: string;
  /** SHA-256 over salt and canonical text of the personal values; `null` where there are none. */
  readonly personalHash: string | null;
  readonly prevHash: string;
  readonly hash: string;
}

/**
 * State that must never disagree with the history: written in the same transaction as the entries it belongs to.
 * `value: null` removes it.
 */
export interface StateWrite {
  readonly kind:
    | 'uses'
    | 'area'
    | 'guessing'
    | 'first-person'
    | 'mode'
    | 'clock-floor'
    | 'contact'
    | 'feed-floor'
    | 'boot'
    | 'replica-head';
  readonly key: string;
  readonly value: CanonicalValue;
}
