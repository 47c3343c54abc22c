/**
 * A thing without states that people of a facility write whole: a door, a reader, a group, a schedule, a holiday, a holder.
 *
 * Each is declared once, as data; the verbs that create, update and delete, and the routes, are the same for all.
 */
import type { RawBuilder } from 'kysely';
import type * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Action } from '#shared/role.ts';
import type { Touched } from './touched.ts';
import type { RefusedWrite } from './written.ts';

export type ThingTable = 'door' | 'reader' | 'door_group' | 'schedule' | 'holiday' | 'holder';

/** What a body names, and must be there. */
export interface Reference {
  /** Where in the request, e.g. `/body/door`. */
  readonly path: string;
  readonly table: ThingTable | 'role_assignment';
  /** `id` where it is left out. */
  readonly column?: string;
  readonly id: string;
}

/** Where it is, and in which facility. */
export interface Place {
  readonly facility: string;
  readonly id: string;
}

export interface Thing<Schema extends z.ZodObject = z.ZodObject> {
  readonly table: ThingTable;
  /** Of its ids. */
  readonly prefix: string;
  /** Of its addresses, e.g. `door-groups`. */
  readonly path: string;
  /** In operations, e.g. `DoorGroup`. */
  readonly noun: string;
  /** Who may read it. */
  readonly reading: Action;
  /** What people write. */
  readonly body: Schema;
  /** What they read, beside `id`, `version` and `createdAt`. */
  readonly item: z.ZodObject;
  readonly columns: (body: z.output<Schema>) => Readonly<Record<string, unknown>>;
  /** A column whose value no other of the facility may have. */
  readonly unique: (body: z.output<Schema>) => Unique | undefined;
  readonly references: (body: z.output<Schema>) => readonly Reference[];
  /** Columns to read as `t`, beside `id`, `version` and `created_at`. */
  readonly select: RawBuilder<unknown>;
  readonly itemOf: (row: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** A condition over `t` that holds while something else depends on it; absent where it is never deleted. */
  readonly isUsed?: RawBuilder<unknown>;
  /** What else is written with it, or refuses it, after its own row. */
  readonly settle?: (
    transaction: TenantTransaction,
    place: Place,
    body: z.output<Schema> | undefined,
  ) => Promise<RefusedWrite | undefined>;
  /** Heard by the gateways afterwards. Locks what it names. */
  readonly touched: (transaction: TenantTransaction, place: Place) => Promise<Touched>;
}

export interface Unique {
  readonly column: string;
  readonly value: string;
  readonly path: string;
}

/** Keeps the shape of the body between its parts. */
export const declareThing = <Schema extends z.ZodObject>(thing: Thing<Schema>): Thing => thing as unknown as Thing;
