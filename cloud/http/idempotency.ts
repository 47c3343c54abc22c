/**
 * A change that is asked for twice happens once: the first answer is kept with the change itself, in one transaction.
 *
 * Guarantees: the same key with the same request gives the same answer, whether the first was heard or lost; two at once
 * wait for each other; the same key with another request is refused. Kept sealed, for an answer may hold what is shown once.
 * Not promised: remembering beyond `keptHours`, or a refusal, which changed nothing and is judged anew.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import type { Done } from './answer.ts';
import { RequestRefused } from './problem.ts';

const keptHours = 24;

/** What a facility-less request stands under. */
const noFacility = '-';

export interface IdempotentRequest {
  readonly facility: string | undefined;
  readonly actor: string;
  /** The header Idempotency-Key. */
  readonly key: string;
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

export type Claimed = { readonly kind: 'first' } | { readonly kind: 'repeated'; readonly answer: Done };

/** Takes the key for this transaction, or finds the answer that was given under it. @throws RequestRefused. */
export async function claimKey(
  transaction: TenantTransaction,
  sealer: Sealer,
  request: IdempotentRequest,
): Promise<Claimed> {
  const facility = request.facility ?? noFacility;
  const fingerprint = fingerprintOf(request);
  const expires = sql<Date>`now() + make_interval(hours => ${keptHours})`;
  const taken = await transaction
    .insertInto('idempotency_key')
    .values({ facility_id: facility, actor: request.actor, key: request.key, fingerprint, expires_at: expires })
    .onConflict((conflict) =>
      conflict
        .columns(['facility_id', 'actor', 'key'])
        .doUpdateSet({ fingerprint, status: null, response: null, expires_at: expires })
        .where('idempotency_key.expires_at', '<', sql<Date>`now()`),
    )
    .executeTakeFirst();
  if (taken.numInsertedOrUpdatedRows === 1n) return { kind: 'first' };
  const kept = await transaction
    .selectFrom('idempotency_key')
    .select(['fingerprint', 'status', 'response'])
    .where('facility_id', '=', facility)
    .where('actor', '=', request.actor)
    .where('key', '=', request.key)
    .executeTakeFirst();
  if (!kept) throw new RequestRefused({ refused: 'IDEMPOTENCY_IN_PROGRESS' }, 1);
  if (!fingerprint.equals(kept.fingerprint)) throw new RequestRefused({ refused: 'IDEMPOTENCY_KEY_REUSED' });
  if (kept.status === null) throw new RequestRefused({ refused: 'IDEMPOTENCY_IN_PROGRESS' }, 1);
  const sealed = Buffer.from(String(kept.response), 'base64');
  const body: unknown = JSON.parse(sealer.open(sealName(request), sealed).toString('utf8'));
  return { kind: 'repeated', answer: { status: kept.status as Done['status'], body } };
}

/** Keeps the answer with what it answers for. */
export async function keepAnswer(
  transaction: TenantTransaction,
  sealer: Sealer,
  request: IdempotentRequest,
  answer: Done,
): Promise<void> {
  const sealed = sealer.seal(sealName(request), Buffer.from(JSON.stringify(answer.body ?? null), 'utf8'));
  await transaction
    .updateTable('idempotency_key')
    .set({ status: answer.status, response: JSON.stringify(sealed.toString('base64')) })
    .where('facility_id', '=', request.facility ?? noFacility)
    .where('actor', '=', request.actor)
    .where('key', '=', request.key)
    .execute();
}

const sealName = ({ actor, key }: IdempotentRequest): string => `answer ${actor} ${key}`;

function fingerprintOf({ method, url, body }: IdempotentRequest): Buffer {
  return createHash('sha256')
    .update(`${method}\n${url}\n${JSON.stringify(body ?? null)}`)
    .digest();
}
