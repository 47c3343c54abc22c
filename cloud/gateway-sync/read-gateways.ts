/** Gateways as people see them: state, keys to compare, how far each is behind, and when it was heard of. */
import { sql } from 'kysely';
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { gatewayMachine } from './gateway-machine.ts';

const instant = z.iso.datetime().nullable();

export const gatewayView = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(gatewayMachine.states),
  /** To be compared with what the machine shows. */
  fingerprint: z.string(),
  hardware: z.string(),
  /** Ids of the devices in its configuration. */
  devices: z.array(z.string()),
  doors: z.array(z.string()),
  replaces: z.string().nullable(),
  version: z.int(),
  createdAt: instant,
  confirmedAt: instant,
  endedAt: instant,
  lastSeenAt: instant,
  feed: z.object({
    /** How far its feed is numbered, and how far its door process said it is. */
    head: z.int(),
    cursor: z.int(),
    /** Changes that are not at its doors yet: numbered ones, and those that wait for a number. */
    lag: z.int(),
    queued: z.int(),
    ackedAt: instant,
    isSame: z.boolean().nullable(),
  }),
  journal: z.object({ epoch: z.int(), seq: z.int(), receivedAt: instant }).nullable(),
  alarms: z.array(z.string()),
  health: z.record(z.string(), z.unknown()).nullable(),
});
export type GatewayView = z.infer<typeof gatewayView>;

interface Row {
  readonly id: string;
  readonly name: string;
  readonly status: GatewayView['status'];
  readonly door_fingerprint: string;
  readonly hardware: string;
  readonly devices: string[];
  readonly doors: string[];
  readonly replaces: string | null;
  readonly version: number;
  readonly created_at: Date;
  readonly confirmed_at: Date | null;
  readonly ended_at: Date | null;
  readonly last_seen_at: Date | null;
  readonly report: Record<string, unknown> | null;
  readonly head_seq: number | null;
  readonly cursor_seq: number | null;
  readonly acked_at: Date | null;
  readonly is_same: boolean | null;
  readonly queued: number;
  readonly epoch: number | null;
  readonly last_seq: number;
  readonly moved_at: Date | null;
  readonly alarms: string[];
}

/** In the order in which they came. @param id one of them only. */
export async function readGateways(
  transaction: TenantTransaction,
  facilityId: string,
  page: { readonly id?: string; readonly after?: string; readonly limit?: number } = {},
): Promise<readonly GatewayView[]> {
  const { id, after = '', limit = 1 } = page;
  const chosen = id === undefined ? sql`g.id > ${after}` : sql`g.id = ${id}`;
  const found = await sql<Row>`select g.id, g.name, g.status, g.door_fingerprint, g.hardware, g.devices, g.replaces,
      g.version, g.created_at, g.confirmed_at, g.ended_at, h.last_seen_at, h.report, f.head_seq, a.cursor_seq,
      a.received_at as acked_at, a.is_same, j.epoch, j.last_seq, j.moved_at,
      array(select b.door_id from door_binding b where b.facility_id = g.facility_id and b.gateway_id = g.id
        order by b.door_id) as doors,
      array(select distinct x.code from gateway_alarm x where x.facility_id = g.facility_id and x.gateway_id = g.id
        and x.cleared_at is null order by x.code) as alarms,
      (select coalesce(sum(q.change_count), 0)::int from feed_group q where q.facility_id = g.facility_id
        and q.gateway_id = g.id and q.last_seq is null) as queued
    from gateway g
    left join gateway_health h on h.facility_id = g.facility_id and h.gateway_id = g.id
    left join feed_head f on f.facility_id = g.facility_id and f.gateway_id = g.id
    left join feed_ack a on a.facility_id = g.facility_id and a.gateway_id = g.id
    left join lateral (select epoch, last_seq, moved_at from journal_head n
      where n.facility_id = g.facility_id and n.gateway_id = g.id order by epoch desc limit 1) j on true
    where g.facility_id = ${facilityId} and ${chosen} order by g.id limit ${limit}`.execute(transaction);
  return found.rows.map(viewOf);
}

export const instantText = (at: Date | null): string | null => at?.toISOString() ?? null;

function viewOf(row: Row): GatewayView {
  const { id, name, status, hardware, devices, doors, replaces, version, alarms } = row;
  const head = row.head_seq ?? 0;
  const cursor = row.cursor_seq ?? 0;
  return {
    ...{ id, name, status, hardware, devices, doors, replaces, version, alarms },
    fingerprint: row.door_fingerprint,
    createdAt: instantText(row.created_at),
    confirmedAt: instantText(row.confirmed_at),
    endedAt: instantText(row.ended_at),
    lastSeenAt: instantText(row.last_seen_at),
    feed: {
      head,
      cursor,
      lag: Math.max(0, head - cursor) + row.queued,
      queued: row.queued,
      ackedAt: instantText(row.acked_at),
      isSame: row.is_same,
    },
    journal: row.epoch === null ? null : { epoch: row.epoch, seq: row.last_seq, receivedAt: instantText(row.moved_at) },
    health: row.report,
  };
}
