/** Facilities and the organizations they belong to. */
import * as z from 'zod';
import { publish } from '#cloud/credential/publish.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { created, ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import type { Caller } from '#cloud/http/caller.ts';
import { idText } from '#cloud/http/create-api.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { nameSchema } from '#shared/contract/identifier.ts';
import { isZone } from '#shared/facility-date.ts';
import { createFacility } from './create-facility.ts';
import type { Sealer } from './sealed-value.ts';

export interface FacilityRouteParts {
  readonly sealer: Sealer;
  readonly cursors: Cursors;
}

const language = z.enum(['en', 'ja']);
const zoneText = z.string().min(1).max(64);

const facilityView = z.object({
  id: idText,
  organization: idText,
  name: z.string(),
  zone: z.string(),
  language,
  version: z.int(),
  createdAt: z.string(),
});

export function facilityRoutes(api: Api, parts: FacilityRouteParts): void {
  listRoutes(api, parts);
  createRoute(api, parts);
  oneRoutes(api);
}

function listRoutes(api: Api, { cursors }: FacilityRouteParts): void {
  api.route({
    method: 'GET',
    url: '/v1/facilities',
    operation: 'listFacilities',
    summary: 'The facilities you belong to.',
    tag: 'Facilities',
    access: 'signed-in',
    query: pageQuery,
    answers: { 200: pageOf(facilityView) },
    handle: async ({ transaction, query: { limit, cursor } }) => {
      const after = cursors.read('facilities', cursor);
      const rows = await facilities(transaction)
        .$if(after !== undefined, (select) => select.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit + 1)
        .execute();
      return ok(cutPage(rows.map(viewOf), limit, (last) => cursors.write('facilities', last.id)));
    },
  });
  api.route({
    method: 'GET',
    url: '/v1/organizations',
    operation: 'listOrganizations',
    summary: 'The organizations whose facilities you belong to.',
    tag: 'Facilities',
    access: 'signed-in',
    query: pageQuery,
    answers: { 200: pageOf(z.object({ id: idText, name: z.string(), version: z.int() })) },
    handle: async ({ transaction, query: { limit, cursor } }) => {
      const after = cursors.read('organizations', cursor);
      const rows = await transaction
        .selectFrom('organization')
        .select(['id', 'name', 'version'])
        .$if(after !== undefined, (select) => select.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit + 1)
        .execute();
      return ok(cutPage(rows, limit, (last) => cursors.write('organizations', last.id)));
    },
  });
}

function createRoute(api: Api, { sealer }: FacilityRouteParts): void {
  api.route({
    method: 'POST',
    url: '/v1/organizations/:organization/facilities',
    operation: 'createFacility',
    summary: 'Makes a facility; you become its owner. For owners of another facility of the organization.',
    tag: 'Facilities',
    access: 'signed-in',
    params: z.strictObject({ organization: idText }),
    body: z.strictObject({ name: nameSchema, zone: zoneText, language: language.default('ja') }),
    answers: { 201: facilityView },
    refusals: ['ZONE_UNKNOWN'],
    handle: async ({ transaction, caller, params, body }) => {
      const standing = organizationStanding(caller, params.organization);
      if (caller.kind === 'token' || standing === 'stranger') return refusal('NOT_FOUND');
      if (standing === 'member') return refusal('NOT_AUTHORIZED');
      if (!isZone(body.zone)) return refusal('ZONE_UNKNOWN');
      const by = { userId: caller.userId, organizationId: params.organization };
      const id = await createFacility(transaction, sealer, by, body);
      return created(await readFacility(transaction, id));
    },
  });
}

function organizationStanding(caller: Caller, organization: string): 'stranger' | 'member' | 'owner' {
  if (caller.kind === 'token') return 'stranger';
  const roles = [...caller.roles].filter(([id]) => caller.organizations.get(id) === organization);
  if (roles.length === 0) return 'stranger';
  return roles.some(([, role]) => role === 'owner') ? 'owner' : 'member';
}

function oneRoutes(api: Api): void {
  api.route({
    method: 'GET',
    url: '/v1/facilities/:facility',
    operation: 'readFacility',
    summary: 'One facility.',
    tag: 'Facilities',
    access: 'member',
    answers: { 200: facilityView },
    handle: async ({ transaction, facility }) => ok(await readFacility(transaction, facility)),
  });
  api.route({
    method: 'PATCH',
    url: '/v1/facilities/:facility',
    operation: 'changeFacility',
    summary: 'Changes a facility’s name, zone or language.',
    tag: 'Facilities',
    access: 'manage_access',
    body: z.strictObject({
      version: z.int().min(1),
      name: nameSchema.optional(),
      zone: zoneText.optional(),
      language: language.optional(),
    }),
    answers: { 200: facilityView },
    refusals: ['VERSION_STALE', 'ZONE_UNKNOWN'],
    handle: async ({ transaction, facility, body: { version, ...changes } }) => {
      if (changes.zone !== undefined && !isZone(changes.zone)) return refusal('ZONE_UNKNOWN');
      const isChanged = await asVerb(transaction, 'facility.change', undefined, async () => {
        const changed = await transaction
          .updateTable('facility')
          .set((row) => ({ ...changes, version: row('version', '+', 1) }))
          .where('id', '=', facility)
          .where('version', '=', version)
          .executeTakeFirst();
        if (changed.numUpdatedRows !== 1n) return false;
        const detail = { fields: Object.keys(changes) };
        await audit(transaction, facility, { action: 'facility.changed', entityId: facility, detail });
        await publish(transaction, facility, { facility: true });
        return true;
      });
      const current = await readFacility(transaction, facility);
      return isChanged ? ok(current) : refusal('VERSION_STALE', { current });
    },
  });
}

const facilities = (transaction: TenantTransaction) =>
  transaction
    .selectFrom('facility')
    .select(['id', 'organization_id', 'name', 'zone', 'language', 'version', 'created_at']);

async function readFacility(transaction: TenantTransaction, id: string) {
  return viewOf(await facilities(transaction).where('id', '=', id).executeTakeFirstOrThrow());
}

interface FacilityColumns {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly zone: string;
  readonly language: string;
  readonly version: number;
  readonly created_at: Date;
}

function viewOf({ organization_id: organization, created_at: createdAt, ...rest }: FacilityColumns) {
  return { ...rest, organization, createdAt: createdAt.toISOString() };
}
