/** What people do with a gateway's state: let it in, let it go on, put it out. One verb for each transition. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { audit, runVerb } from '#cloud/database/verb.ts';
import type { Outcome } from '#shared/outcome.ts';
import { moveDoors } from './bind-door.ts';
import { lockScope } from './emit-feed.ts';
import { type GatewayStatus, gatewayMachine } from './gateway-machine.ts';

export interface GatewayVerb {
  readonly facilityId: string;
  readonly gatewayId: string;
  readonly expectedVersion?: number;
  readonly reason?: string;
}

interface GatewayRow {
  readonly facility_id: string;
  readonly id: string;
  readonly version: number;
  readonly door_fingerprint: string;
  readonly replaces: string | null;
}

type Event = (typeof gatewayMachine)['events'][number];

interface Particular {
  readonly event: Event;
  readonly isSameFingerprint?: (row: GatewayRow) => boolean;
  readonly effects?: (row: GatewayRow) => Promise<void>;
}

function change(
  transaction: TenantTransaction,
  verb: GatewayVerb,
  { event, isSameFingerprint = () => true, effects }: Particular,
): Promise<Outcome<GatewayStatus>> {
  const { facilityId, gatewayId: id, expectedVersion, reason } = verb;
  return runVerb(transaction, {
    name: `gateway.${event}`,
    machine: gatewayMachine,
    event,
    table: 'gateway',
    facilityId,
    id,
    absent: 'NOT_FOUND',
    ...(expectedVersion === undefined ? {} : { expectedVersion }),
    ...(reason === undefined ? {} : { reason }),
    conditions: (row: GatewayRow) => ({ isSameFingerprint: isSameFingerprint(row) }),
    columns: () => (event === 'confirm' ? { confirmed_at: sql`now()` } : endColumns(event)),
    effects: async (row) => {
      await audit(transaction, facilityId, { action: `gateway.${event}`, entityId: id });
      await effects?.(row);
    },
  });
}

const endColumns = (event: Event) => (event === 'revoke' || event === 'supersede' ? { ended_at: sql`now()` } : {});

/**
 * Lets a gateway in: from now on it is told all that concerns it. One that comes in the place of another takes its doors,
 * and the other is out at once.
 * @param fingerprint as the person read it on the machine.
 */
export async function confirmGateway(
  transaction: TenantTransaction,
  verb: GatewayVerb,
  fingerprint: string,
): Promise<Outcome<GatewayStatus>> {
  // What verbs say meanwhile goes either into the fill or behind it.
  await lockScope(transaction, verb.facilityId, 'exclusive');
  return await change(transaction, verb, {
    event: 'confirm',
    isSameFingerprint: (row) => row.door_fingerprint === fingerprint.toLowerCase(),
    effects: async (row) => {
      if (row.replaces !== null) await replace(transaction, verb, row.replaces);
      await sql`insert into feed_group (facility_id, gateway_id, is_fill, change_count)
        values (${verb.facilityId}, ${verb.gatewayId}, true, 1)`.execute(transaction);
    },
  });
}

async function replace(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: GatewayVerb,
  former: string,
): Promise<void> {
  await change(
    transaction,
    { facilityId, gatewayId: former, reason: `replaced by ${gatewayId}` },
    { event: 'supersede' },
  );
  await moveDoors(transaction, { facilityId, from: former, to: gatewayId });
}

/** Puts it out: its next call is refused. Its doors stay bound, so that a replacement can take them. */
export const revokeGateway = (transaction: TenantTransaction, verb: GatewayVerb): Promise<Outcome<GatewayStatus>> =>
  change(transaction, verb, { event: 'revoke' });

/** Somebody found out why its history forked, and trusts it again. */
export const releaseGateway = (transaction: TenantTransaction, verb: GatewayVerb): Promise<Outcome<GatewayStatus>> =>
  change(transaction, verb, { event: 'release' });
