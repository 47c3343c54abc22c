/** Enrolling a card by showing it to a reader: open a window, present the card, issue with the window’s id. */
import * as z from 'zod';
import { ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { actorOf } from '#cloud/http/caller.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import { openWindow } from './open-window.ts';
import { bitCountOf } from './read-cards.ts';
import { type ReadShownCards, readWindow, type SeenWindow } from './take-window.ts';
import { writtenAnswer } from './written.ts';

const url = '/v1/facilities/:facility/enrolment-windows';
const tag = 'credentials';

const windowItem = z.object({
  id: z.string(),
  reader: z.string(),
  closesAt: z.iso.datetime(),
  state: z.enum(['waiting', 'read', 'used', 'closed']),
  cardBits: z.int().nullable(),
  cloneableAs: z.string().nullable(),
});

export function windowRoutes(api: Api, shown: ReadShownCards): void {
  api.route({
    method: 'POST',
    url,
    operation: 'openEnrolmentWindow',
    summary: 'Asks a reader for the next card that it does not know.',
    tag,
    access: 'issue_credential',
    body: z.strictObject({ reader: idSchema<'reader'>(), seconds: z.int().min(10).max(300).default(60) }),
    answers: { 201: windowItem },
    refusals: ['REFERENCE_UNKNOWN', 'DOOR_UNBOUND', 'GATEWAY_NOT_SERVED'],
    handle: async ({ transaction, facility, caller, body }) => {
      const written = await openWindow(transaction, facility, { ...body, actor: actorOf(caller) });
      return writtenAnswer(
        written,
        async (id = '') => itemOf(id, await readWindow(transaction, shown, { facility, id })),
        true,
      );
    },
  });
  api.route({
    method: 'GET',
    url: `${url}/:id`,
    operation: 'readEnrolmentWindow',
    summary: 'Whether a card has been shown.',
    tag,
    access: 'issue_credential',
    params: z.strictObject({ id: idSchema<'window'>() }),
    answers: { 200: windowItem },
    handle: async ({ transaction, facility, params: { id } }) => {
      const window = await readWindow(transaction, shown, { facility, id });
      return window === undefined ? refusal('NOT_FOUND') : ok(itemOf(id, window));
    },
  });
}

function itemOf(id: string, window: SeenWindow | undefined): z.output<typeof windowItem> | undefined {
  if (window === undefined) return undefined;
  const { reader_id, closes_at, card } = window;
  return {
    id,
    reader: reader_id,
    closesAt: closes_at.toISOString(),
    state: stateOf(window),
    cardBits: card === undefined ? null : bitCountOf(card.normalized),
    cloneableAs: card?.cloneableAs ?? null,
  };
}

function stateOf({ used_at, card, is_open, is_recent }: SeenWindow): z.output<typeof windowItem>['state'] {
  if (used_at !== null) return 'used';
  if (card !== undefined) return is_recent ? 'read' : 'closed';
  return is_open ? 'waiting' : 'closed';
}
