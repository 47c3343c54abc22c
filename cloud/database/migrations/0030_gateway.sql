-- Gateways: how they come in, which doors they work, and when they were last heard of.
create table gateway (
  facility_id text not null references facility (id),
  id text not null,
  name text not null check (length(btrim(name)) between 1 and 120),
  status text not null default 'enrolling',
  -- Raw public keys, born on the machine.
  door_sign_key bytea not null check (octet_length(door_sign_key) = 32),
  door_seal_key bytea not null check (octet_length(door_seal_key) = 32),
  edge_key bytea not null check (octet_length(edge_key) = 32),
  door_fingerprint text not null check (door_fingerprint ~ '^[0-9a-f]{64}$'),
  hardware text not null check (length(hardware) <= 128),
  -- Ids of the devices in its configuration.
  devices text[] not null default '{}' check (cardinality(devices) <= 512),
  -- The gateway in whose place it comes.
  replaces text,
  confirmed_at timestamptz,
  ended_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  primary key (facility_id, id),
  foreign key (facility_id, replaces) references gateway (facility_id, id)
);
create index gateway_id on gateway (id);
select build.tenant_table('gateway', app => 'select,update', gateway => 'select,insert,update');
select build.worker_finds('gateway');
select build.machine('gateway', 'gateway');
select build.lookup_table('gateway');

create table enrolment_code (
  facility_id text not null references facility (id),
  -- The first group of the code.
  id text not null check (id ~ '^[0-9A-HJKMNP-TV-Z]{8}$'),
  -- Gone once it has no more use.
  secret text check (secret ~ '^[0-9A-HJKMNP-TV-Z]{16}$'),
  gateway_name text not null check (length(btrim(gateway_name)) between 1 and 120),
  replaces text,
  -- Wrong proofs.
  failures int not null default 0 check (failures between 0 and 5),
  expires_at timestamptz not null,
  -- The gateway that came in by it.
  gateway_id text,
  created_by text not null,
  created_at timestamptz not null default now(),
  primary key (facility_id, id),
  foreign key (facility_id, replaces) references gateway (facility_id, id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create index enrolment_code_id on enrolment_code (id);
select build.tenant_table('enrolment_code', app => 'select,insert', gateway => 'select,update');
select build.policy('enrolment_code', 'kannuki_worker', command, 'expires_at < now() - interval ''7 days''')
  from unnest(array['select', 'delete']) command;
drop trigger refuse_delete on enrolment_code;
select build.lookup_table('enrolment_code');

create table door_binding (
  facility_id text not null references facility (id),
  door_id text not null,
  gateway_id text not null,
  bound_at timestamptz not null default now(),
  primary key (facility_id, door_id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create index door_binding_gateway on door_binding (facility_id, gateway_id);
select build.tenant_table('door_binding', app => 'select,insert,update,delete', worker => 'select', gateway => 'select');

-- What is heard of a gateway; believed as health, never as proof.
create table gateway_health (
  facility_id text not null,
  gateway_id text not null,
  last_seen_at timestamptz not null default now(),
  -- `kind:version` of each kind it declared, as it declared them.
  kinds text not null default '' check (length(kinds) <= 512),
  report jsonb,
  reported_at timestamptz,
  primary key (facility_id, gateway_id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
select build.tenant_table('gateway_health', app => 'select', worker => 'select', gateway => 'select,insert,update');

-- What an operator must look at: of the gateway itself (a forked history, a drift), or told by its journal.
create table gateway_alarm (
  facility_id text not null,
  id bigint generated always as identity,
  gateway_id text not null,
  code text not null check (length(code) between 1 and 64),
  door_id text,
  -- What it is about, e.g. a device; '' for the gateway itself.
  subject text not null default '' check (length(subject) <= 128),
  detail jsonb not null default '{}',
  raised_at timestamptz not null default now(),
  cleared_at timestamptz,
  primary key (facility_id, id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create unique index gateway_alarm_standing on gateway_alarm (facility_id, gateway_id, code, subject) where cleared_at is null;
create index gateway_alarm_age on gateway_alarm (facility_id, cleared_at);
select build.tenant_table('gateway_alarm', app => 'select,update', worker => 'insert,update,delete',
  gateway => 'select,insert,update');
select build.worker_finds('gateway_alarm');

-- The newest word of a gateway's history on each alarm, by its place: events are processed in any order.
create table gateway_alarm_word (
  facility_id text not null,
  gateway_id text not null,
  code text not null,
  subject text not null,
  epoch int not null,
  seq bigint not null,
  primary key (facility_id, gateway_id, code, subject),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
select build.tenant_table('gateway_alarm_word', worker => 'select,insert,update');

-- Before there are claims: to which facility a code or a gateway belongs, and by which key the gateway speaks.
create function app.enrolment_code_facility(code text) returns table (facility_id text)
  language sql stable as
  'select c.facility_id from enrolment_code c
   where c.id = code and c.secret is not null and c.expires_at > now() - interval ''1 day''
   order by c.created_at desc limit 1';
select build.definer('app.enrolment_code_facility(text)', 'kannuki_lookup', 'gateway,app');

create function app.gateway_entry(gateway text)
  returns table (facility_id text, status text, edge_key bytea, door_sign_key bytea, door_seal_key bytea)
  language sql stable as
  'select g.facility_id, g.status, g.edge_key, g.door_sign_key, g.door_seal_key from gateway g where g.id = gateway limit 1';
select build.definer('app.gateway_entry(text)', 'kannuki_lookup', 'gateway');
