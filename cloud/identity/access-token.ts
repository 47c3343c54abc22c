/**
 * The short word of who somebody is: a JWT over the session, the facilities and the roles in them, for a few minutes.
 *
 * Signed with a key that derives from the cloud's, so that every node reads what any node gave out.
 * Not promised: that its roles still stand; whoever reads it compares them with what stands now.
 */
import { errors, jwtVerify, SignJWT } from 'jose';
import * as z from 'zod';
import { deriveHashKey } from '#shared/keyed-hash.ts';
import { type RoleKey, roleKeys } from '#shared/role.ts';

const algorithm = 'HS256';
const issuer = 'kannuki-cloud';
const audience = 'kannuki-api';

/** Somebody of more facilities has them looked up: a header has room for so many only. */
const facilitiesMax = 200;

const claimsSchema = z.object({
  sub: z.string(),
  sid: z.string(),
  facility_ids: z.array(z.string()).optional(),
  roles: z.record(z.string(), z.enum(roleKeys)).optional(),
});

export interface AccessClaims {
  readonly userId: string;
  readonly sessionId: string;
  /** `undefined`: more than fit; those count that stand now. */
  readonly roles: Readonly<Record<string, RoleKey>> | undefined;
}

export interface AccessTokens {
  readonly sign: (claims: AccessClaims) => Promise<string>;
  /** @returns `undefined` for what is not ours, was changed, or has run out. */
  readonly verify: (token: string) => Promise<AccessClaims | undefined>;
}

/** @param lifeS how long one is good, in seconds. */
export function createAccessTokens(cloudKey: Uint8Array, lifeS: number): AccessTokens {
  const key = deriveHashKey(cloudKey, 'kannuki cloud access token');
  return {
    sign: ({ userId, sessionId, roles }) =>
      new SignJWT({ sid: sessionId, ...claimedRoles(roles) })
        .setProtectedHeader({ alg: algorithm, typ: 'at+jwt' })
        .setSubject(userId)
        .setIssuer(issuer)
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(`${lifeS} s`)
        .sign(key),
    verify: async (token) => {
      try {
        const { payload } = await jwtVerify(token, key, { algorithms: [algorithm], typ: 'at+jwt', issuer, audience });
        const { sub, sid, roles } = claimsSchema.parse(payload);
        return { userId: sub, sessionId: sid, roles };
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof z.ZodError) return undefined;
        throw error;
      }
    },
  };
}

function claimedRoles(roles: AccessClaims['roles']): object {
  if (roles === undefined) return {};
  const facilities = Object.keys(roles);
  return facilities.length > facilitiesMax ? {} : { facility_ids: facilities, roles };
}
