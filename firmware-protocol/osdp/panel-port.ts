/**
 * What a panel session is told and what it answers: configuration, inputs and effects of one reader.
 *
 * Times are plain monotonic milliseconds of one clock. Randomness arrives as input, so a recorded session replays.
 * Every `transmit` is answered by exactly one `reply` or `no-reply` before the next `turn`.
 */
import type { Check, Frame } from './frame.ts';
import type { Command, DecodedReply } from './message.ts';
import type { CapabilitiesReply } from './reply/capabilities.ts';
import type { IdentityReply } from './reply/identity.ts';

/** What may be asked of a reader from outside: keys and handshakes are the session's own business. */
export type PanelCommand = Exclude<Command, { readonly kind: 'set-key' | 'challenge' | 'panel-cryptogram' }>;

/**
 * What is asked over a fresh channel: identity and capabilities before the reader counts as on line, the rest after.
 * `receive-size` asks nothing: it tells the reader how long a message it may send, and a reader may refuse to know.
 */
export type Inquiry =
  | 'identity'
  | 'capabilities'
  | 'local-status'
  | 'input-status'
  | 'output-status'
  | 'reader-status'
  | 'receive-size';

/** What a fresh channel is asked. In plain a POLL shows whether the reader talks in plain at all. */
export type Question = Inquiry | 'poll';

export type PanelSecurity =
  | { readonly mode: 'plain' }
  | {
      readonly mode: 'secure';
      /** The reader's own key; `undefined` until one is installed: such a reader is identified, never used. */
      readonly key: Uint8Array | undefined;
      /** A key that was about to be installed when the panel stopped: the reader may hold either. */
      readonly candidate?: Uint8Array;
    };

export interface PanelConfig {
  /** 0x00–0x7E; 0x7F only with one reader on the line. */
  readonly address: number;
  /** CRC for all readers; checksum only for one that is known to need it, and never in a secure channel. */
  readonly check: Check;
  readonly security: PanelSecurity;
  /** What was enrolled; vendor, model and serial must match, versions may move. */
  readonly expectedIdentity?: IdentityReply;
  /** Silence that makes a reader off line, ms; the standard's 8 000 unless told otherwise. */
  readonly offlineAfterMs?: number;
  /** The reader's first byte must come this long after the panel's last, ms; 200 by the standard, more over TCP. */
  readonly replyTimeoutMs?: number;
  /** Whether a silent reader is also tried with a plain POLL; by default only where plain speech is configured. */
  readonly wakeWithPoll?: boolean;
  /** By default all but the outputs; in plain the identity is not asked again. */
  readonly inquiries?: readonly Inquiry[];
}

export type PanelInput =
  /** The line is free for one exchange. @param entropy 8 fresh random bytes, used only by a handshake. */
  | { readonly kind: 'turn'; readonly at: number; readonly entropy: Uint8Array }
  /** A whole frame with a good check arrived in answer. */
  | { readonly kind: 'reply'; readonly at: number; readonly frame: Frame }
  /** Nothing usable arrived in time. */
  | { readonly kind: 'no-reply'; readonly at: number }
  /** @param deadline it is not sent, nor sent again, at or after this time. */
  | {
      readonly kind: 'command';
      readonly at: number;
      readonly id: number;
      readonly command: PanelCommand;
      readonly deadline: number;
    }
  /** An operator lets this reader be given `key` until then; the caller has stored it as the candidate beforehand. */
  | { readonly kind: 'open-install'; readonly at: number; readonly until: number; readonly key: Uint8Array }
  | { readonly kind: 'close-install'; readonly at: number }
  /** Changes the key inside a running session; the caller has stored it as the candidate beforehand. */
  | { readonly kind: 'rekey'; readonly at: number; readonly key: Uint8Array }
  | { readonly kind: 'line-down'; readonly at: number };

/** Why a reader is not usable. */
export type PanelOfflineReason =
  | 'line-down'
  | 'silent'
  | 'key-mismatch'
  | 'security-required'
  | 'identity-changed'
  | 'protocol-fault';

export type PanelAlarmCode =
  | 'DEVICE_KEY_MISMATCH'
  | 'DEVICE_IDENTITY_CHANGED'
  | 'DEVICE_SECURITY_LOST'
  | 'DEVICE_MESSAGE_FORGED'
  | 'INSTALL_WINDOW_OPEN';

export type CommandOutcome =
  /** Carried out, by the reader's own word. */
  | { readonly kind: 'accepted'; readonly reply: DecodedReply }
  /** @param nak the reader's reason, 0–255. */
  | { readonly kind: 'refused'; readonly nak: number }
  /** Certainly not carried out. */
  | { readonly kind: 'not-executed'; readonly reason: 'offline' | 'expired' | 'busy' }
  /** Sent, and nobody knows. */
  | { readonly kind: 'unknown' };

export type PanelEffect =
  /** @param bytes SOM to check, without mark; the same bytes for a repeat. @param replyTimeoutMs after the last byte left. */
  | {
      readonly kind: 'transmit';
      readonly bytes: Uint8Array;
      readonly replyTimeoutMs: number;
      readonly role: 'first' | 'repeat' | 'probe';
    }
  /** Nothing to send before then; the line belongs to others. */
  | { readonly kind: 'skip'; readonly until: number }
  | {
      readonly kind: 'online';
      readonly channel: 'plain' | 'secure';
      readonly identity: IdentityReply;
      readonly capabilities: CapabilitiesReply;
    }
  | { readonly kind: 'offline'; readonly reason: PanelOfflineReason }
  /** Something the reader reported over the channel it is on line with. */
  | { readonly kind: 'event'; readonly at: number; readonly reply: DecodedReply }
  /** A read or key from before the connection; it opens nothing. */
  | { readonly kind: 'discarded'; readonly what: 'card' | 'keys'; readonly reason: 'before-connection' }
  | { readonly kind: 'command-done'; readonly id: number; readonly outcome: CommandOutcome }
  /** At most one a minute for each code and detail. */
  | { readonly kind: 'alarm'; readonly code: PanelAlarmCode; readonly detail: string }
  /** Set, and proven by a handshake with it. */
  | { readonly kind: 'key-installed'; readonly key: Uint8Array; readonly identity: IdentityReply }
  /** The window is shut. `refused`: by the reader; `unsuitable`: the key is public, zero or in use, or the reader is plain. */
  | {
      readonly kind: 'install-closed';
      readonly reason: 'installed' | 'expired' | 'closed' | 'refused' | 'unsuitable';
    }
  /** The reader answered COMSET: from now on it listens there, and the session with it; the line follows in rate. */
  | { readonly kind: 'communication'; readonly address: number; readonly baud: number };
