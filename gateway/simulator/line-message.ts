/** What the supervisor of a simulated site and the process of one of its lines tell each other. Both are this program. */
import type { LineId } from '#shared/identifier.ts';
import type { SiteCall } from './site-call.ts';
import type { Site } from './site-file.ts';
import type { SiteEvent, SiteStatus } from './site-report.ts';

/** A site whose keys have been read from their files. */
export interface LineAssignment {
  readonly site: Site;
  readonly line: LineId;
  readonly stateDir: string;
}

/** `status` answers for this line only. */
export type LineAnswer = SiteStatus | null;

export type ToLine =
  | { readonly kind: 'open'; readonly assignment: LineAssignment }
  | { readonly kind: 'call'; readonly id: number; readonly call: SiteCall };

export type FromLine =
  /** `port` is `null` for a serial line. */
  | { readonly kind: 'opened'; readonly port: number | null }
  | { readonly kind: 'failed'; readonly detail: string }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: LineAnswer }
  | { readonly kind: 'refused'; readonly id: number; readonly detail: string }
  | { readonly kind: 'event'; readonly event: SiteEvent };
