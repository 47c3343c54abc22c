/** What the gateways told: their history, newest first, and the alarms that stand. */
import { sql } from 'kysely';
import * as z from 'zod';
import { ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import { instantText } from './read-gateways.ts';

const tag = 'history';

const entryView = z.object({
  gateway: z.string(),
  epoch: z.int(),
  seq: z.int(),
  at: z.iso.datetime().nullable(),
  /** How far the gateway trusted its clock. */
  clock: z.string(),
  kind: z.string(),
  door: z.string().nullable(),
  request: z.string().nullable(),
  body: z.record(z.string(), z.unknown()),
  /** Values about persons; absent where there are none, or they were erased. */
  personal: z.record(z.string(), z.unknown()).optional(),
});

const alarmView = z.object({
  id: z.string(),
  gateway: z.string(),
  code: z.string(),
  door: z.string().nullable(),
  subject: z.string(),
  detail: z.record(z.string(), z.unknown()),
  raisedAt: z.iso.datetime().nullable(),
});

interface EntryRow {
  readonly gateway_id: string;
  readonly epoch: number;
  readonly seq: number;
  readonly at: Date;
  readonly at_text: string;
  readonly clock_state: string;
  readonly kind: string;
  readonly door_id: string | null;
  readonly request_id: string | null;
  readonly body: string;
  readonly value: string | null;
}

export function historyRoutes(api: Api, cursors: Cursors): void {
  journalRoute(api, cursors);
  alarmRoutes(api);
}

function journalRoute(api: Api, cursors: Cursors): void {
  api.route({
    method: 'GET',
    url: '/v1/facilities/:facility/journal',
    operation: 'listJournal',
    summary: 'The history of a facility, newest first.',
    tag,
    access: 'view_journal',
    query: z.strictObject({
      ...pageQuery.shape,
      door: idSchema<'door'>().optional(),
      request: idSchema<'request'>().optional(),
    }),
    answers: { 200: pageOf(entryView) },
    handle: async ({ transaction, facility, query }) => {
      const { door, request, limit } = query;
      const list = `journal ${facility} ${door ?? ''} ${request ?? ''}`;
      const place = cursors.read(list, query.cursor)?.split(' ');
      const before =
        place === undefined
          ? sql`true`
          : sql`(e.at, e.gateway_id, e.epoch, e.seq) < (${place[0]}::timestamptz, ${place[1]}, ${place[2]}::int, ${place[3]}::bigint)`;
      const found = await sql<EntryRow>`select e.gateway_id, e.epoch, e.seq, e.at, app.instant_text(e.at) as at_text,
          e.clock_state, e.kind, e.door_id, e.request_id, e.body, p.value
        from journal_entry e
        left join journal_personal p on p.facility_id = e.facility_id and p.gateway_id = e.gateway_id
          and p.epoch = e.epoch and p.seq = e.seq
        where e.facility_id = ${facility} and ${before}
          and ${door === undefined ? sql`true` : sql`e.door_id = ${door}`}
          and ${request === undefined ? sql`true` : sql`e.request_id = ${request}`}
        order by e.at desc, e.gateway_id desc, e.epoch desc, e.seq desc limit ${limit + 1}`.execute(transaction);
      const page = cutPage(found.rows, limit, (last) =>
        cursors.write(list, `${last.at_text} ${last.gateway_id} ${last.epoch} ${last.seq}`),
      );
      return ok({ ...page, items: page.items.map(viewOf) });
    },
  });
}

function viewOf(row: EntryRow): z.infer<typeof entryView> {
  const { epoch, seq, kind } = row;
  return {
    ...{ epoch, seq, kind },
    gateway: row.gateway_id,
    at: instantText(row.at),
    clock: row.clock_state,
    door: row.door_id,
    request: row.request_id,
    body: JSON.parse(row.body),
    ...(row.value === null ? {} : { personal: JSON.parse(row.value) }),
  };
}

function alarmRoutes(api: Api): void {
  api.route({
    method: 'GET',
    url: '/v1/facilities/:facility/alarms',
    operation: 'listAlarms',
    summary: 'The alarms that stand, oldest first; at most five hundred.',
    tag,
    access: 'view_journal',
    answers: { 200: z.object({ items: z.array(alarmView) }) },
    handle: async ({ transaction, facility }) => {
      const found = await sql<Omit<z.infer<typeof alarmView>, 'raisedAt'> & { raised_at: Date }>`
        select id::text, gateway_id as gateway, code, door_id as door, subject, detail, raised_at from gateway_alarm
        where facility_id = ${facility} and cleared_at is null order by gateway_alarm.id limit 500`.execute(
        transaction,
      );
      const items = found.rows.map(({ raised_at, ...alarm }) => ({ ...alarm, raisedAt: instantText(raised_at) }));
      return ok({ items });
    },
  });
  api.route({
    method: 'POST',
    url: '/v1/facilities/:facility/alarms/:alarm/clear',
    operation: 'clearAlarm',
    summary: 'Says that somebody has seen to an alarm.',
    tag,
    access: 'view_journal',
    params: z.strictObject({ alarm: z.string().regex(/^\d{1,18}$/) }),
    answers: { 200: z.object({ id: z.string() }) },
    handle: async ({ transaction, facility, params: { alarm } }) => {
      const cleared = await sql`update gateway_alarm set cleared_at = now()
        where facility_id = ${facility} and id = ${alarm}::bigint and cleared_at is null`.execute(transaction);
      return cleared.numAffectedRows === 1n ? ok({ id: alarm }) : refusal('NOT_FOUND');
    },
  });
}
