/** Acts from afar: each is asked for, and its end is read afterwards. */
import { sql } from 'kysely';
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { type Answer, accepted, ok, refusal } from '#cloud/http/answer.ts';
import type { Api, RouteCall } from '#cloud/http/api.ts';
import { actorOf, type Caller } from '#cloud/http/caller.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import type { RemoteAct } from '#shared/contract/sync/command.ts';
import type { DoorId } from '#shared/identifier.ts';
import { commandMachine } from './command-lifecycle.ts';
import { gatewayOfDoor, queueCommand } from './queue-command.ts';
import { instantText } from './read-gateways.ts';

const tag = 'commands';
const door = idSchema<'door'>();
const doorParams = z.strictObject({ door });
const commandView = z.object({
  id: z.string(),
  gateway: z.string(),
  act: z.record(z.string(), z.unknown()),
  status: z.enum(commandMachine.states),
  /** Why it was refused. */
  code: z.string().nullable(),
  requestedBy: z.string(),
  requestedAt: z.iso.datetime().nullable(),
  deliveredAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  version: z.int(),
});
const asked = { 202: commandView };
const refusals = ['DOOR_NOT_BOUND', 'GATEWAY_NOT_SERVED'] as const;
const lifetimeMs = z.int().min(1_000).max(60_000).default(30_000).describe('How long it may still be begun.');

export function commandRoutes(api: Api): void {
  doorRoutes(api);
  gatewayCommandRoutes(api);
  api.route({
    method: 'GET',
    url: '/v1/facilities/:facility/commands/:command',
    operation: 'readCommand',
    summary: 'What became of a command.',
    tag,
    access: 'member',
    params: z.strictObject({ command: idSchema<'request'>() }),
    answers: { 200: commandView },
    handle: async ({ transaction, facility, params: { command } }) => {
      const found = await readCommand(transaction, facility, command);
      return found === undefined ? refusal('NOT_FOUND') : ok(found);
    },
  });
}

function doorRoutes(api: Api): void {
  const url = '/v1/facilities/:facility/doors/:door';
  api.route({
    method: 'POST',
    url: `${url}/release`,
    operation: 'releaseDoor',
    summary: 'Releases a door once.',
    tag,
    access: 'release_door',
    params: doorParams,
    body: z.strictObject({ ms: z.int().min(200).max(600_000).optional(), lifetimeMs }),
    answers: asked,
    refusals,
    handle: (call) => {
      const { ms } = call.body;
      return askDoor(call, call.params.door, {
        act: 'release',
        door: call.params.door,
        ...(ms === undefined ? {} : { ms }),
      });
    },
  });
  api.route({
    method: 'POST',
    url: `${url}/secure`,
    operation: 'secureDoor',
    summary: 'Secures a door that is released.',
    tag,
    access: 'release_door',
    params: doorParams,
    body: z.strictObject({ lifetimeMs }),
    answers: asked,
    refusals,
    handle: (call) => askDoor(call, call.params.door, { act: 'secure', door: call.params.door }),
  });
  api.route({
    method: 'POST',
    url: `${url}/mode`,
    operation: 'setDoorMode',
    summary: 'Sets the mode of a door.',
    tag,
    access: 'set_door_mode',
    params: doorParams,
    body: z.strictObject({ mode: z.enum(['controlled', 'free', 'lockdown']), lifetimeMs }),
    answers: asked,
    refusals,
    handle: (call) => askDoor(call, call.params.door, { act: 'mode', door: call.params.door, mode: call.body.mode }),
  });
}

function gatewayCommandRoutes(api: Api): void {
  const url = '/v1/facilities/:facility/gateways/:gateway';
  const params = z.strictObject({ gateway: idSchema<'gateway'>() });
  api.route({
    method: 'POST',
    url: `${url}/mode`,
    operation: 'setGatewayMode',
    summary: 'Sets the mode of every door of a gateway: lockdown, and back.',
    tag,
    access: 'set_door_mode',
    params,
    body: z.strictObject({ mode: z.enum(['controlled', 'free', 'lockdown']), lifetimeMs }),
    answers: asked,
    refusals: ['GATEWAY_NOT_SERVED'],
    handle: (call) => ask(call, call.params.gateway, { act: 'mode', door: '*', mode: call.body.mode }),
  });
  api.route({
    method: 'POST',
    url: `${url}/refresh`,
    operation: 'refreshGateway',
    summary: 'Asks a gateway to poll and report at once.',
    tag,
    access: 'manage_gateway',
    params,
    body: z.strictObject({ lifetimeMs }),
    answers: asked,
    refusals: ['GATEWAY_NOT_SERVED'],
    handle: (call) => ask(call, call.params.gateway, { act: 'refresh' }),
  });
}

type Asking = Pick<RouteCall<undefined, undefined, undefined>, 'transaction' | 'facility' | 'caller'> & {
  readonly body: { readonly lifetimeMs: number };
};

async function askDoor(call: Asking, doorId: DoorId, act: RemoteAct): Promise<Answer> {
  const gatewayId = await gatewayOfDoor(call.transaction, call.facility, doorId);
  return gatewayId === undefined ? refusal('DOOR_NOT_BOUND') : await ask(call, gatewayId, act);
}

async function ask(call: Asking, gatewayId: string, act: RemoteAct): Promise<Answer> {
  const { transaction, facility: facilityId, caller, body } = call;
  const actor = await actorName(transaction, caller);
  const queued = await queueCommand(transaction, { facilityId, gatewayId, act, actor, lifetimeMs: body.lifetimeMs });
  if (queued.status === 'refused') return refusal(queued.code);
  return accepted(await readCommand(transaction, facilityId, queued.id));
}

/** As history shows who asked. */
async function actorName(transaction: TenantTransaction, caller: Caller): Promise<string> {
  if (caller.kind === 'token') return actorOf(caller);
  const found = await sql<{ name: string }>`select name from app_user where id = ${caller.userId}`.execute(transaction);
  return found.rows[0]?.name ?? actorOf(caller);
}

interface CommandRow {
  readonly id: string;
  readonly gateway_id: string;
  readonly act: Record<string, unknown>;
  readonly status: (typeof commandMachine)['states'][number];
  readonly code: string | null;
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly delivered_at: Date | null;
  readonly ended_at: Date | null;
  readonly version: number;
}

async function readCommand(
  transaction: TenantTransaction,
  facilityId: string,
  id: string,
): Promise<z.infer<typeof commandView> | undefined> {
  const found =
    await sql<CommandRow>`select id, gateway_id, act, status, code, requested_by, requested_at, delivered_at,
      ended_at, version
    from gateway_command where facility_id = ${facilityId} and id = ${id}`.execute(transaction);
  const row = found.rows[0];
  if (row === undefined) return undefined;
  const { act, status, code, version } = row;
  return {
    id: row.id,
    gateway: row.gateway_id,
    ...{ act, status, code, version },
    requestedBy: row.requested_by,
    requestedAt: instantText(row.requested_at),
    deliveredAt: instantText(row.delivered_at),
    endedAt: instantText(row.ended_at),
  };
}
