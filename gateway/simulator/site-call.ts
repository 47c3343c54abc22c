/**
 * What can be asked of a running simulated site: one JSON object a line on its socket, and the same between its processes.
 *
 * Ids in a call are checked for form here and for existence where the call is routed.
 */
import * as z from 'zod';
import { idSchema } from '#shared/contract/identifier.ts';
import { doorFaultSchema, faultSchema, lineFaultSchema } from './fault.ts';

/** Longest line on the socket, bytes. */
export const callBytesMax = 8 * 1024;

const peripheral = idSchema<'device'>();
const door = idSchema<'door'>();
const line = idSchema<'line'>();
/** A person waits this long for the lock, ms; a PIN or a second person fits in. */
const patienceMs = z.int().min(1).max(600_000).default(20_000);

export const siteCalls = {
  status: z.strictObject({}),
  /** A card (bits as 0 and 1) or keys at a reader; whoever presents then waits at its door and goes through. */
  present: z.strictObject({
    reader: peripheral,
    head: z.int().min(0).max(3).default(0),
    what: z.union([
      z.strictObject({
        bits: z.string().regex(/^[01]{1,512}$/, 'must be 1–512 binary digits'),
        format: z.int().min(0).max(255).default(1),
      }),
      z.strictObject({ keys: z.string().regex(/^[0-9*#]{1,32}$/, 'must be 1–32 of 0–9 * #') }),
    ]),
    patienceMs,
    /** Whether somebody stands there who will open the door. */
    walks: z.boolean().default(true),
  }),
  arrive: z.strictObject({ door, patienceMs }),
  leave: z.strictObject({ door }),
  exit: z.strictObject({ door }),
  force: z.strictObject({ door }),
  hold: z.strictObject({ door, isHeld: z.boolean().default(true) }),
  fire: z.strictObject({ door, isActive: z.boolean().default(true) }),
  fault: z.strictObject({ peripheral, fault: faultSchema }),
  'line-fault': z.strictObject({ line, fault: lineFaultSchema }),
  'door-fault': z.strictObject({ door, fault: doorFaultSchema }),
  /** Stream: what happens at the doors and on the wires, until the connection ends. */
  follow: z.strictObject({}),
} as const;

export type SiteVerb = keyof typeof siteCalls;
export type SiteArguments<Of extends SiteVerb> = z.output<(typeof siteCalls)[Of]>;
/** The same as a caller writes them: ids as text, defaults left out. */
export type SiteInput<Of extends SiteVerb> = z.input<(typeof siteCalls)[Of]>;

const verbs = Object.keys(siteCalls) as [SiteVerb, ...SiteVerb[]];
export const siteRequest = z.strictObject({
  id: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  verb: z.enum(verbs),
  arguments: z.unknown(),
});

/** One call with its arguments parsed. */
export type SiteCall = {
  [Of in SiteVerb]: { readonly verb: Of; readonly arguments: SiteArguments<Of> };
}[SiteVerb];
