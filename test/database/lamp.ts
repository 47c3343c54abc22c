/**
 * A table of tenants' rows under a small machine, to try the mechanism on before, and apart from, any real table.
 */
import pg from 'pg';
import { syncRules } from '#cloud/database/sync-rules.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { runVerb } from '#cloud/database/verb.ts';
import { machines } from '#cloud/machines.ts';
import type { Code } from '#shared/code.ts';
import { conflict, declareMachine, illegal, noop, refuse, to } from '#shared/machine.ts';
import type { Outcome } from '#shared/outcome.ts';

export type LampState = 'off' | 'on' | 'broken';
export type LampEvent = 'light' | 'douse' | 'smash';

export const lampMachine = declareMachine<LampState, LampEvent, 'is_powered'>({
  name: 'lamp',
  about: 'A lamp that breaks once.',
  states: ['off', 'on', 'broken'],
  events: ['light', 'douse', 'smash'],
  initial: 'off',
  conflict: 'CREDENTIAL_STATE_CHANGED',
  conditions: { is_powered: { says: 'there is power', refuses: 'PAYMENT_REQUIRED' } },
  cells: {
    light: { off: to('on', { needs: ['is_powered'] }), on: noop('ALREADY_ISSUED'), broken: illegal },
    douse: { off: noop('ALREADY_SUSPENDED'), on: to('off'), broken: conflict },
    smash: { off: to('broken'), on: to('broken'), broken: refuse('ALREADY_REVOKED') },
  },
});

export interface LampRow {
  readonly facility_id: string;
  readonly id: string;
  readonly version: number;
  readonly status: LampState;
  readonly label: string | null;
}

const tables = `
  set role kannuki_owner;
  create table lamp (
    facility_id text not null,
    id text not null,
    status text not null,
    label text,
    version int not null default 1,
    deleted_at timestamptz,
    primary key (facility_id, id)
  );
  create unique index lamp_label on lamp (facility_id, label) where deleted_at is null;
  select build.tenant_table('lamp', app => 'select,insert,update', worker => 'select,update', gateway => 'select');
  select build.machine('lamp', 'lamp');
  reset role;
`;

export async function addLamps(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(tables);
    await syncRules(client, [...machines, lampMachine]);
  } finally {
    await client.end();
  }
}

export interface LampVerb {
  readonly event: LampEvent;
  readonly facilityId: string;
  readonly id: string;
  readonly expectedVersion?: number;
  readonly isPowered?: boolean;
  readonly refuseWith?: Code;
  readonly label?: string;
  readonly effects?: () => Promise<void>;
}

export function lampVerb(transaction: TenantTransaction, verb: LampVerb): Promise<Outcome<LampState>> {
  const { event, facilityId, id, expectedVersion, effects, label } = verb;
  return runVerb<LampRow, LampState, LampEvent, 'is_powered'>(transaction, {
    name: `lamp.${event}`,
    machine: lampMachine,
    event,
    table: 'lamp',
    facilityId,
    id,
    absent: 'CREDENTIAL_UNKNOWN',
    conditions: () => ({ is_powered: verb.isPowered ?? true }),
    authorize: () => verb.refuseWith ?? null,
    ...(expectedVersion === undefined ? {} : { expectedVersion }),
    ...(label === undefined ? {} : { columns: () => ({ label }) }),
    ...(effects ? { effects } : {}),
  });
}
