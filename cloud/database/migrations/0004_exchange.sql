-- Messages in, requests repeated, calls out: each is a row before it is an effect.
create table inbox_event (
  facility_id text not null,
  -- Who sent it, e.g. gateway:gwy_…, stripe.
  source text not null check (length(source) between 1 and 128),
  event_id text not null check (length(event_id) between 1 and 256),
  type text not null check (length(type) between 1 and 128),
  payload jsonb not null,
  received_at timestamptz not null default now(),
  claim_token uuid,
  lease_until timestamptz,
  -- Not tried again before.
  retry_at timestamptz not null default now(),
  processed_at timestamptz,
  failed_at timestamptz,
  attempts int not null default 0,
  last_error text check (length(last_error) <= 2000),
  primary key (facility_id, source, event_id),
  check (processed_at is null or failed_at is null),
  check ((claim_token is null) = (lease_until is null))
);
create index inbox_event_open on inbox_event (retry_at) where processed_at is null and failed_at is null;
select build.tenant_table('inbox_event', app => 'select,insert,update', worker => 'insert,update', gateway => 'select,insert,update');
select build.worker_finds('inbox_event');

create table idempotency_key (
  -- '-' for a request that names no facility.
  facility_id text not null,
  actor text not null,
  key text not null check (length(key) between 1 and 128),
  -- SHA-256 of method, path and body: the same key for something else is refused.
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  -- NULL while the first request is still at work.
  status int check (status between 100 and 599),
  response jsonb,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (facility_id, actor, key)
);
create index idempotency_key_expiry on idempotency_key (expires_at);
select build.tenant_table('idempotency_key', app => 'select,insert,update,delete', tenant =>
  'facility_id = any ((select app.facility_ids() || ''-''::text)::text[]) and actor = (select app.actor())');
select build.policy('idempotency_key', 'kannuki_worker', command, 'expires_at < now()')
  from unnest(array['select', 'delete']) command;

create table external_leg (
  facility_id text not null,
  id text not null,
  verb text not null,
  entity_id text not null,
  expected_version int not null,
  idempotency_key text not null,
  opened_at timestamptz not null default now(),
  closed_at timestamptz,
  outcome text check (outcome in ('applied', 'refused', 'abandoned')),
  attempts int not null default 0,
  last_error text check (length(last_error) <= 2000),
  primary key (facility_id, id),
  unique (facility_id, idempotency_key),
  check ((closed_at is null) = (outcome is null))
);
create index external_leg_open on external_leg (facility_id, opened_at) where closed_at is null;
select build.tenant_table('external_leg', app => 'select,insert,update', worker => 'update');
select build.worker_finds('external_leg');
