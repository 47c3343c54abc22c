/** The routes of this room. */

import type { FeedKeys } from '#cloud/gateway-sync/feed-keys.ts';
import { readShownCards } from '#cloud/gateway-sync/take-card-read.ts';
import type { Api } from '#cloud/http/api.ts';
import type { Cursors } from '#cloud/http/page.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import { signPass } from '#shared/pass.ts';
import { issueRoutes } from './credential-routes.ts';
import { credentialVerbRoutes } from './credential-verb-routes.ts';
import { doorThing } from './door.ts';
import { doorGroupThing } from './door-group.ts';
import { grantRoutes } from './grant-routes.ts';
import { holderThing } from './holder.ts';
import { holidayThing } from './holiday.ts';
import type { IssueDesk } from './issue-credentials.ts';
import type { PinHasher } from './pin-hasher.ts';
import { placeRoutes } from './place-routes.ts';
import { readerThing } from './reader.ts';
import { scheduleThing } from './schedule.ts';
import { thingRoutes } from './thing-routes.ts';
import { windowRoutes } from './window-routes.ts';

export interface CredentialParts {
  readonly cursors: Cursors;
  readonly sealer: Sealer;
  readonly pins: PinHasher;
  /** In force now: by which passes are signed, and cards that were shown to a reader are opened. */
  readonly feedKeys: () => Pick<FeedKeys, 'signKey' | 'open'>;
}

export function credentialRoutes(api: Api, { cursors, sealer, pins, feedKeys }: CredentialParts): void {
  const desk: IssueDesk = {
    sealer,
    pins,
    signPass: (pass) => signPass(pass, feedKeys().signKey),
    shownCards: (transaction, window) => readShownCards(transaction, feedKeys(), window),
  };
  for (const thing of [scheduleThing, holidayThing, doorThing, readerThing, doorGroupThing, holderThing])
    thingRoutes(api, cursors, thing);
  placeRoutes(api);
  issueRoutes(api, desk, cursors);
  credentialVerbRoutes(api, desk);
  grantRoutes(api, cursors);
  windowRoutes(api, desk.shownCards);
}
