/**
 * What can go wrong at a simulated site, as data: the one list for the control socket, the command line and the tests.
 */
import * as z from 'zod';

const times = z.int().min(1).max(100_000);
const ms = z.int().min(1).max(3_600_000);

export const faultSchema = z.discriminatedUnion('kind', [
  /** Its cable is out: it hears nothing and says nothing; its power stays. */
  z.strictObject({ kind: z.literal('unplug') }),
  z.strictObject({ kind: z.literal('plug') }),
  /** Off for `ms`: outputs fall, the session is forgotten, power-up is reported. */
  z.strictObject({ kind: z.literal('power-cycle'), ms: ms.default(2_000) }),
  /** Random bytes on the wire, many of them 0x53, for `ms`. */
  z.strictObject({ kind: z.literal('noise'), ms: ms.default(5_000) }),
  /** Answers polls with replies recorded earlier, a card read among them if there was one. */
  z.strictObject({ kind: z.literal('replay'), count: times.default(10) }),
  z.strictObject({ kind: z.literal('wrong-key') }),
  /** Another reader of the same make hangs there: other serial number, factory key. */
  z.strictObject({ kind: z.literal('swap') }),
  z.strictObject({ kind: z.literal('duplicate'), count: times.default(20) }),
  /** Replies come this much later than they should. */
  z.strictObject({
    kind: z.literal('delay'),
    delayMs: z.int().min(1).max(60_000).default(250),
    count: times.default(20),
  }),
  /** One bit of the reply flips. */
  z.strictObject({ kind: z.literal('corrupt'), count: times.default(20) }),
  z.strictObject({ kind: z.literal('busy'), count: times.default(30) }),
  /** Refuses commands with this NAK code, in plain. */
  z.strictObject({ kind: z.literal('nak'), code: z.int().min(0).max(255).default(6), count: times.default(30) }),
  z.strictObject({ kind: z.literal('tamper'), isActive: z.boolean().default(true) }),
  /** Its own key, identity and manners again, plugged in. */
  z.strictObject({ kind: z.literal('heal') }),
]);
export type Fault = z.infer<typeof faultSchema>;

/** Faults of the wire as a whole: the converter is gone, or back. */
export const lineFaultSchema = z.strictObject({ kind: z.enum(['drop', 'restore']) });

/** Faults of a door’s own parts. */
export const doorFaultSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('stick-contact'), contact: z.enum(['open', 'closed']) }),
  z.strictObject({ kind: z.literal('free-contact') }),
  /** The lock’s relay takes commands and does not move. */
  z.strictObject({ kind: z.literal('jam') }),
  z.strictObject({ kind: z.literal('unjam') }),
]);
export type DoorFault = z.infer<typeof doorFaultSchema>;
