-- Acts from afar, and cards that were shown for enrolment.
create table gateway_command (
  facility_id text not null,
  -- Also the request id under which the gateway journals all that follows.
  id text not null,
  gateway_id text not null,
  act jsonb not null,
  status text not null default 'queued',
  requested_by text not null check (length(requested_by) between 1 and 120),
  requested_at timestamptz not null default now(),
  lifetime_ms int not null check (lifetime_ms between 1000 and 60000),
  delivered_at timestamptz,
  ended_at timestamptz,
  -- Why it was refused, in a code of the registry.
  code text,
  version int not null default 1,
  created_at timestamptz not null default now(),
  primary key (facility_id, id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create index gateway_command_open on gateway_command (facility_id, gateway_id, requested_at)
  where status in ('queued', 'delivered');
create index gateway_command_waiting on gateway_command (requested_at) where status in ('queued', 'delivered');
create index gateway_command_time on gateway_command (facility_id, gateway_id, id);
select build.tenant_table('gateway_command', app => 'select,insert', worker => 'update', gateway => 'select,update');
select build.worker_finds('gateway_command');
select build.machine('gateway_command', 'gateway_command');

create table card_read (
  facility_id text not null,
  id text not null,
  gateway_id text not null,
  window_id text not null,
  reader_id text not null,
  -- To the cloud's certified key; opened where it is used.
  sealed text not null check (length(sealed) <= 1024),
  received_at timestamptz not null default now(),
  primary key (facility_id, id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create index card_read_window on card_read (facility_id, window_id);
select build.tenant_table('card_read', app => 'select,delete', gateway => 'select,insert');
select build.policy('card_read', 'kannuki_worker', command, 'received_at < now() - interval ''1 day''')
  from unnest(array['select', 'delete']) command;
