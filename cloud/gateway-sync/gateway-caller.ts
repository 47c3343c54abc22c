/**
 * Which gateway calls: by a token that edge's own key signed for this one request.
 *
 * Guarantees: the token is for this method, path and body, lives a minute at most and is good once on this node; a gateway
 * that was put out is refused with its next call.
 * Not promised: that nobody replays a call at another node within its minute: every call that changes something is a no-op
 * the second time. Nor authority: what counts is signed by the door process.
 */
import { hash } from 'node:crypto';
import * as z from 'zod';
import type { Claims } from '#cloud/database/tenant-transaction.ts';
import type { Code } from '#shared/code.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import { transportToken } from '#shared/contract/sync/enrolment.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { publicSignKey, verifyStatement } from '#shared/signed-statement.ts';
import { claimedBy } from './claimed-statement.ts';
import { isServed } from './gateway-machine.ts';
import type { SyncParts } from './sync-parts.ts';

export interface GatewayCaller {
  readonly gatewayId: string;
  readonly facilityId: string;
  /** Raw public keys. */
  readonly doorSignKey: Uint8Array;
  readonly doorSealKey: Uint8Array;
  readonly claims: Claims;
  /** When the request came, ms. */
  readonly arrivedAt: number;
}

export interface SignedRequest {
  readonly authorization: string | undefined;
  readonly method: string;
  /** With its query, as sent. */
  readonly path: string;
  readonly body: Uint8Array;
}

export type Admission = GatewayCaller | { readonly refused: Code };

const tokenLifeS = 60;
const tokenPattern = /^Bearer ([A-Za-z0-9_-]{1,512}\.[A-Za-z0-9_-]{1,4096}\.[A-Za-z0-9_-]{1,512})$/;
const claimedIssuer = z.object({ iss: idSchema<'gateway'>() });

export type UsedTokens = Map<string, number>;
const usedMax = 200_000;

export async function admitGateway(parts: SyncParts, used: UsedTokens, request: SignedRequest): Promise<Admission> {
  const arrivedAt = parts.now();
  const token = tokenPattern.exec(request.authorization ?? '')?.[1];
  const gatewayId = token === undefined ? undefined : claimedBy(token, claimedIssuer)?.iss;
  if (token === undefined || gatewayId === undefined) return { refused: 'TRANSPORT_TOKEN_INVALID' };
  const entry = await parts.standing.entryOf(gatewayId);
  if (entry === undefined) return { refused: 'TRANSPORT_TOKEN_INVALID' };
  const verified = await verifyStatement(statementType.transport, transportToken, token, publicSignKey(entry.edge_key));
  if (verified.kind === 'rejected') return { refused: 'TRANSPORT_TOKEN_INVALID' };
  const wrong = faultOf(verified.value, { ...request, gatewayId }, arrivedAt / 1_000);
  if (wrong !== undefined) return { refused: wrong };
  if (!useOnce(used, `${gatewayId} ${verified.value.jti}`, arrivedAt)) return { refused: 'TRANSPORT_TOKEN_REPEATED' };
  if (entry.status === 'enrolling') return { refused: 'GATEWAY_NOT_CONFIRMED' };
  if (!isServed(entry.status)) return { refused: 'GATEWAY_REVOKED' };
  const facilityId = entry.facility_id;
  const claims = { actor: `gateway:${gatewayId}`, facilityIds: [facilityId], gatewayId };
  const { door_sign_key: doorSignKey, door_seal_key: doorSealKey } = entry;
  return { gatewayId, facilityId, doorSignKey, doorSealKey, claims, arrivedAt };
}

/** @param now seconds. */
function faultOf(
  token: z.infer<typeof transportToken>,
  request: SignedRequest & { readonly gatewayId: string },
  now: number,
): Code | undefined {
  const isForThis =
    token.iss === request.gatewayId &&
    token.method === request.method &&
    token.path === request.path &&
    token.body === hash('sha256', request.body, 'hex');
  if (!isForThis || token.exp <= token.iat || token.exp - token.iat > tokenLifeS) return 'TRANSPORT_TOKEN_INVALID';
  const isNow = token.iat - tokenLifeS <= now && now < token.exp;
  return isNow ? undefined : 'TRANSPORT_TOKEN_OUTDATED';
}

/** Remembers as long as any token can live; over the limit the oldest go first, which are nearest to their end. */
function useOnce(used: UsedTokens, name: string, now: number): boolean {
  for (const [oldest, until] of used) {
    if (until > now && used.size < usedMax) break;
    used.delete(oldest);
  }
  if (used.has(name)) return false;
  used.set(name, now + 2 * tokenLifeS * 1_000);
  return true;
}
