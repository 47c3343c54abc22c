/** The routes of this room. */
import type { Api } from '#cloud/http/api.ts';
import type { Cursors } from '#cloud/http/page.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import { doorThing } from './door.ts';
import { doorGroupThing } from './door-group.ts';
import { holderThing } from './holder.ts';
import { holidayThing } from './holiday.ts';
import type { PinHasher } from './pin-hasher.ts';
import { readerThing } from './reader.ts';
import { scheduleThing } from './schedule.ts';
import { thingRoutes } from './thing-routes.ts';

export interface CredentialParts {
  readonly cursors: Cursors;
  readonly sealer: Sealer;
  readonly pins: PinHasher;
}

export function credentialRoutes(api: Api, parts: CredentialParts): void {
  for (const thing of [scheduleThing, holidayThing, doorThing, readerThing, doorGroupThing, holderThing])
    thingRoutes(api, parts.cursors, thing);
}
