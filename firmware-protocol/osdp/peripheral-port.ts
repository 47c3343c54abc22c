/**
 * What a peripheral session is told and what it answers: configuration, inputs and effects of one reader's own side.
 *
 * Times are plain monotonic milliseconds of one clock. Randomness arrives as input.
 */
import type { Check, Frame } from './frame.ts';
import type { Command, Reply } from './message.ts';
import type { Capability } from './reply/capabilities.ts';
import type { IdentityReply } from './reply/identity.ts';

/** What a reader may report by itself, at the next POLL. */
export type Presentable = Extract<
  Reply,
  {
    readonly kind:
      | 'card'
      | 'keys'
      | 'formatted-card'
      | 'local-status'
      | 'input-status'
      | 'output-status'
      | 'reader-status'
      | 'manufacturer';
  }
>;

export interface PeripheralConfig {
  /** 0x00–0x7E; 0x7F is always heard too. */
  readonly address: number;
  /** Check of the replies; by default that of the command. */
  readonly check?: Check;
  /** SCBK, 16 bytes; without one only the public key opens a session, and only in install mode. */
  readonly key?: Uint8Array;
  /** Whether the public key is accepted, until a key is set. */
  readonly isInstallMode: boolean;
  /** Whether plain speech is refused, except for identity, capabilities and handshake. */
  readonly requireSecure: boolean;
  readonly identity: IdentityReply;
  readonly capabilities: readonly Capability[];
  /** cUID, 8 bytes; by default the first eight bytes of the identity. */
  readonly uid?: Uint8Array;
  /** Whether KEYSET is obeyed; yes unless told otherwise. */
  readonly acceptsKeys?: boolean;
  /** Whether COMSET is obeyed. */
  readonly allowsCommunication: boolean;
  /** Longest file taken, bytes; 0 refuses file transfers. */
  readonly longestFile?: number;
  /** Answers questions about status authenticated but readable, as some readers do. */
  readonly hasReadableStatus?: boolean;
  /** Silence that ends the session, ms; the standard's 8 000 unless told otherwise. */
  readonly silenceMs?: number;
}

export type PeripheralInput =
  /** A whole frame with a good check. @param entropy 8 fresh random bytes, used only by a handshake. */
  | { readonly kind: 'frame'; readonly at: number; readonly frame: Frame; readonly entropy: Uint8Array }
  /** Something happened at the reader; told at the next POLL. */
  | { readonly kind: 'present'; readonly at: number; readonly reply: Presentable }
  | { readonly kind: 'tick'; readonly at: number };

type CommandOf<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;

export type PeripheralEffect =
  /** @param bytes SOM to check, without mark. */
  | { readonly kind: 'transmit'; readonly bytes: Uint8Array }
  /** @param timerMs 0 where the action has no timer. */
  | {
      readonly kind: 'output';
      readonly output: number;
      readonly action: CommandOf<'output'>['records'][number]['action'];
      readonly timerMs: number;
    }
  | CommandOf<'led'>
  | CommandOf<'buzzer'>
  | CommandOf<'text'>
  /** Answered at the old values; these hold from now on. */
  | { readonly kind: 'communication'; readonly address: number; readonly baud: number }
  | { readonly kind: 'key-set'; readonly key: Uint8Array }
  | { readonly kind: 'file'; readonly fileType: number; readonly bytes: Uint8Array }
  /** `default-key` is a session that anybody could read. */
  | { readonly kind: 'session'; readonly state: 'secure' | 'default-key' | 'ended' | 'silent' }
  /** A command was answered with this NAK. */
  | { readonly kind: 'refused'; readonly nak: number }
  /** The oldest waiting event had to go. */
  | { readonly kind: 'event-lost'; readonly lost: number };
