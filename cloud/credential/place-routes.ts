/** What only holders and doors have: being erased, and being bound to a gateway. */
import * as z from 'zod';
import { outcomeAnswer } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import { bindDoor } from './bind-door.ts';
import { doorThing } from './door.ts';
import { eraseHolder } from './erase-holder.ts';
import { holderThing } from './holder.ts';
import { itemHead, readThing } from './read-thing.ts';
import { writtenAnswer } from './written.ts';

const params = z.strictObject({ id: idSchema<string>() });

export function placeRoutes(api: Api): void {
  const holder = z.object({ ...itemHead, ...holderThing.item.shape });
  api.route({
    method: 'POST',
    url: '/v1/facilities/:facility/holders/:id/erase',
    operation: 'eraseHolder',
    summary: 'Takes back their keys and forgets who they are. What stays are ids that name nobody.',
    tag: 'access',
    access: 'manage_access',
    params,
    body: z.strictObject({ version: z.int().min(1) }),
    answers: { 200: holder },
    refusals: ['VERSION_STALE'],
    handle: async ({ transaction, facility, params: { id }, body }) => {
      const written = await eraseHolder(transaction, { facility, id }, body.version);
      return writtenAnswer(written, () => readThing(transaction, holderThing, { facility, id }));
    },
  });
  const door = z.object({ ...itemHead, ...doorThing.item.shape });
  api.route({
    method: 'PUT',
    url: '/v1/facilities/:facility/doors/:id/gateway',
    operation: 'bindDoor',
    summary: 'Says which gateway works the door; null: none.',
    tag: 'access',
    access: 'manage_gateway',
    params,
    body: z.strictObject({ gateway: idSchema<'gateway'>().nullable() }),
    answers: { 200: z.object({ outcome: z.looseObject({ status: z.string() }), item: door }) },
    refusals: ['GATEWAY_NOT_SERVED', 'WIRED_TWICE', 'USES_NEED_ONE_GATEWAY'],
    handle: async ({ transaction, facility, params: { id }, body }) => {
      const outcome = await bindDoor(transaction, { facility, id }, body.gateway);
      return outcomeAnswer(outcome, () => readThing(transaction, doorThing, { facility, id }));
    },
  });
}
