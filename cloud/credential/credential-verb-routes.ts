/** What is done with a credential after it was issued. */
import * as z from 'zod';
import { created, ok, outcomeAnswer, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import type { Code } from '#shared/code.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import type { Action } from '#shared/role.ts';
import { changeDoor } from './change-door.ts';
import {
  credentialParams,
  credentialUrl,
  issuedSchema,
  issueRefusals,
  secretSchema,
  tag,
} from './credential-routes.ts';
import { cardSchema, pinSchema } from './issue-body.ts';
import type { IssueDesk } from './issue-credentials.ts';
import type { NewSecret } from './new-credential.ts';
import { credentialItem, readCredential } from './read-credential.ts';
import { reissueCredential } from './reissue-credential.ts';
import { restoreCredential } from './restore-credential.ts';
import { revealValue } from './reveal-value.ts';
import { revokeCredential } from './revoke-credential.ts';
import { suspendCredential } from './suspend-credential.ts';
import { refusedField } from './written.ts';

const terms = {
  version: z.int().min(1).optional().describe('The version that was read; left out, it acts on whatever is there.'),
  reason: z.string().trim().min(1).max(200).optional().describe('For the log. No personal data.'),
};
const outcomeItem = z.object({ outcome: z.looseObject({ status: z.string() }), item: credentialItem });

interface Plain {
  readonly name: 'suspend' | 'restore' | 'revoke';
  readonly run: typeof suspendCredential;
  readonly access: Action;
  readonly summary: string;
  readonly refusals: readonly Code[];
}

const plain: readonly Plain[] = [
  {
    name: 'suspend',
    run: suspendCredential,
    access: 'revoke_credential',
    summary: 'Takes it out of force until it is restored.',
    refusals: [],
  },
  {
    name: 'restore',
    run: restoreCredential,
    access: 'issue_credential',
    summary: 'Puts it back in force, if all that it rests on still stands.',
    refusals: ['HOLDER_ERASED', 'HOLDER_WITHOUT_ROLE', 'CREDENTIAL_EXPIRED'],
  },
  {
    name: 'revoke',
    run: revokeCredential,
    access: 'revoke_credential',
    summary: 'Takes it back for good. `delivery` says since when each door refuses it.',
    refusals: [],
  },
];

export function credentialVerbRoutes(api: Api, desk: IssueDesk): void {
  for (const { name, run, access, summary, refusals } of plain) {
    api.route({
      method: 'POST',
      url: `${credentialUrl}/:id/${name}`,
      operation: `${name}Credential`,
      summary,
      tag,
      access,
      params: credentialParams,
      body: z.strictObject(terms),
      answers: { 200: outcomeItem },
      refusals: ['ILLEGAL_TRANSITION', 'CREDENTIAL_STATE_CHANGED', ...refusals],
      handle: async ({ transaction, facility, params: { id }, body }) => {
        const outcome = await run(transaction, { facility, id, ...body });
        return outcomeAnswer(outcome, () => readCredential(transaction, facility, id));
      },
    });
  }
  replaceRoutes(api, desk);
  api.route({
    method: 'POST',
    url: `${credentialUrl}/:id/reveal`,
    operation: 'revealCredential',
    summary: 'Shows a PIN or a pass once more; that it was shown is audited.',
    tag,
    access: 'issue_credential',
    params: credentialParams,
    answers: { 200: z.object({ secret: secretSchema }) },
    refusals: ['VALUE_GONE', 'KIND_UNSUITED'],
    handle: async ({ transaction, facility, params: { id } }) => {
      const revealed = await revealValue(transaction, desk.sealer, facility, id);
      return revealed.status === 'shown' ? ok({ secret: revealed.secret }) : refusal(revealed.code);
    },
  });
}

function replaceRoutes(api: Api, desk: IssueDesk): void {
  api.route({
    method: 'POST',
    url: `${credentialUrl}/:id/reissue`,
    operation: 'reissueCredential',
    summary: 'Issues a new one in its place, with the same holder, terms and grants, and revokes it.',
    tag,
    access: 'issue_credential',
    params: credentialParams,
    body: z.strictObject({
      ...terms,
      card: cardSchema.optional().describe('The new card; needed where the old one was a card.'),
      pin: pinSchema.optional(),
    }),
    answers: { 201: issuedSchema },
    refusals: [...issueRefusals, 'ILLEGAL_TRANSITION', 'CREDENTIAL_STATE_CHANGED'],
    handle: async ({ transaction, facility, params: { id }, body }) => {
      const { card, pin, ...call } = body;
      const done = await reissueCredential(transaction, desk, { facility, id, ...call }, secretOf(card, pin));
      if (done.status === 'unsuited')
        return refusal('REQUEST_INVALID', { fields: [{ path: '/body/card', key: 'field.required' }] });
      if (done.status === 'kept') {
        const { outcome } = done;
        if (outcome.status === 'noop') return refusal('ILLEGAL_TRANSITION');
        return outcomeAnswer(outcome, () => readCredential(transaction, facility, id));
      }
      if (done.with.status === 'refused') return refusedField(done.with);
      const [issued] = done.with.issued;
      return created({ item: await readCredential(transaction, facility, issued?.id ?? ''), secret: issued?.secret });
    },
  });
  api.route({
    method: 'POST',
    url: `${credentialUrl}/:id/change-door`,
    operation: 'changeDoor',
    summary: 'Moves what it is granted from one door to another: another room, the same card.',
    tag,
    access: 'manage_access',
    params: credentialParams,
    body: z.strictObject({ ...terms, from: idSchema<'door'>(), to: idSchema<'door'>() }),
    answers: { 200: outcomeItem },
    refusals: [
      'REFERENCE_UNKNOWN',
      'DOOR_NOT_GRANTED',
      'KIND_UNSUITED',
      'PIN_SPACE_EXHAUSTED',
      'USES_NEED_ONE_GATEWAY',
      'ILLEGAL_TRANSITION',
      'CREDENTIAL_STATE_CHANGED',
    ],
    handle: async ({ transaction, facility, params: { id }, body }) => {
      const outcome = await changeDoor(transaction, { facility, id, ...body });
      return outcomeAnswer(outcome, () => readCredential(transaction, facility, id));
    },
  });
}

function secretOf(
  card: z.output<typeof cardSchema> | undefined,
  pin: z.output<typeof pinSchema> | undefined,
): NewSecret | undefined {
  if (card !== undefined) return { kind: 'card', card };
  return pin === undefined ? undefined : { kind: 'pin', digits: pin.digits };
}
