/** The routes of people, facilities and tokens. */
import type { Api } from '#cloud/http/api.ts';
import { auditRoutes } from './audit-routes.ts';
import { type FacilityRouteParts, facilityRoutes } from './facility-routes.ts';
import { invitationRoutes } from './invitation-routes.ts';
import { memberRoutes } from './member-routes.ts';
import { ownRoutes } from './own-routes.ts';
import { type SessionRouteParts, sessionRoutes } from './session-routes.ts';
import { tokenRoutes } from './token-routes.ts';

export type IdentityParts = SessionRouteParts & FacilityRouteParts;

export function identityRoutes(api: Api, parts: IdentityParts): void {
  sessionRoutes(api, parts);
  ownRoutes(api);
  facilityRoutes(api, parts);
  memberRoutes(api, parts);
  invitationRoutes(api, parts);
  tokenRoutes(api, parts);
  auditRoutes(api, parts);
}
