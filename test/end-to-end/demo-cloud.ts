/** The demonstration's cloud, asked as its operator asks it, and aged as no operator can. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { loadConfig } from '#cloud/config.ts';
import { startServer } from '#cloud/database/embedded-server.ts';
import { openPool } from '#cloud/database/pool.ts';
import { embeddedFolder } from '#cloud/open-database.ts';
import type { CloudApi } from '../../tools/demo-api.ts';

export interface Card {
  readonly id: string;
  readonly kind: string;
  readonly leaseMs: number | 'unlimited';
  readonly validUntil: string | null;
  readonly delivery: readonly { readonly state: string }[];
}

export async function cardOf(api: CloudApi, holder: string): Promise<Card> {
  const { items } = await api.get<{ items: readonly Card[] }>(`credentials?holder=${holder}&limit=50`);
  const card = items.find(({ kind }) => kind === 'card');
  if (card === undefined) throw new Error(`${holder} has no card`);
  return card;
}

/** The cloud counts what it is asked, and the gateway asks it too. */
const askEveryMs = 250;

/** @param withinMs a bound against hanging, not an expectation. */
export async function until(what: string, holds: () => Promise<boolean>, withinMs = 120_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await pause(askEveryMs);
  }
}

/** Resolves when this is so at every door of the credential, of which there is one at least. */
export const delivered = (api: CloudApi, id: string, wanted: string): Promise<void> =>
  until(`the credential to be ${wanted}`, async () => {
    const { delivery } = await api.get<Card>(`credentials/${id}`);
    return delivery.length > 0 && delivery.every(({ state }) => state === wanted);
  });

/** As if the cloud had heard of no gateway for five minutes; one that is heard of afterwards is heard of. */
export async function forgetContact(dir: string): Promise<void> {
  const folder = embeddedFolder(loadConfig(join(dir, 'cloud.yaml')));
  const { adminUrl } = await startServer({ folder });
  const admin = openPool({ url: adminUrl, size: 1, name: 'kannuki-test' });
  await sql`update gateway_health set last_seen_at = last_seen_at - interval '5 minutes'`.execute(admin);
  await admin.destroy();
}
