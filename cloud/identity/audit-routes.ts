/** What was done in a facility, by whom: for its owners. */
import * as z from 'zod';
import { ok } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';

const eventView = z.object({
  seq: z.int().describe('Place in the facility’s chain.'),
  at: z.string(),
  action: z.string(),
  actor: z.string(),
  entity: z.string(),
  detail: z.record(z.string(), z.unknown()),
  hash: z.string().describe('SHA-256 over the hash before and this event, in hexadecimal.'),
});

export function auditRoutes(api: Api, { cursors }: { readonly cursors: Cursors }): void {
  api.route({
    method: 'GET',
    url: '/v1/facilities/:facility/audit',
    operation: 'listAuditEvents',
    summary: 'What was done, newest first, each event sealed into a chain.',
    tag: 'Audit',
    access: 'view_audit_log',
    query: pageQuery,
    answers: { 200: pageOf(eventView) },
    handle: async ({ transaction, facility, query: { limit, cursor } }) => {
      const list = `audit ${facility}`;
      const before = cursors.read(list, cursor);
      const rows = await transaction
        .selectFrom('audit_seal')
        .innerJoin('audit_event', (join) =>
          join
            .onRef('audit_event.facility_id', '=', 'audit_seal.facility_id')
            .onRef('audit_event.id', '=', 'audit_seal.event_id'),
        )
        .select(['seq', 'at', 'action', 'actor', 'entity_id', 'detail', 'hash'])
        .where('audit_seal.facility_id', '=', facility)
        .$if(before !== undefined, (select) => select.where('seq', '<', Number(before)))
        .orderBy('seq', 'desc')
        .limit(limit + 1)
        .execute();
      const events = rows.map(({ entity_id: entity, at, hash, ...rest }) => ({
        ...rest,
        entity,
        at: at.toISOString(),
        hash,
      }));
      return ok(cutPage(events, limit, (last) => cursors.write(list, String(last.seq))));
    },
  });
}
