-- Down: what a facility says, what is queued for each gateway, what each gateway should hold, and what it said it holds.

-- The newest word of the facility on each row, whichever gateways there are.
create table feed_source (
  facility_id text not null references facility (id),
  kind text not null,
  -- The row's id; of a grant `credential door grant`.
  key text not null,
  -- The door on which it depends where it goes (door, reader, grant); NULL goes everywhere.
  door_id text,
  row jsonb not null,
  primary key (facility_id, kind, key)
);
create index feed_source_door on feed_source (facility_id, door_id) where door_id is not null;
create index feed_source_grant on feed_source (facility_id, (row ->> 'credential')) where kind = 'grant';
-- One card or PIN is one credential: a gateway's table holds no two.
create unique index feed_source_lookup on feed_source (facility_id, (row ->> 'lookup')) where kind = 'credential';
select build.tenant_table('feed_source', app => 'select,insert,update,delete', worker => 'select,insert,update,delete',
  gateway => 'select');

-- Changes that a gateway applies together, not yet numbered or numbered.
create table feed_group (
  facility_id text not null,
  -- Taken after the rows it speaks of are locked: for one row, the order of groups is the order of commits.
  id bigint generated always as identity,
  gateway_id text not null,
  -- Stands for all rows of the facility that concern the gateway.
  is_fill boolean not null default false,
  change_count int not null default 0,
  byte_count int not null default 0,
  first_seq bigint,
  last_seq bigint,
  created_at timestamptz not null default now(),
  numbered_at timestamptz,
  primary key (facility_id, id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id),
  check ((numbered_at is null) = (last_seq is null) and (last_seq is null) = (first_seq is null))
);
create index feed_group_open on feed_group (facility_id, gateway_id, id) where last_seq is null;
create index feed_group_numbered on feed_group (facility_id, gateway_id, last_seq) where last_seq is not null;
select build.tenant_table('feed_group', app => 'select,insert', worker => 'insert,update,delete', gateway => 'select');
select build.worker_finds('feed_group');

create table feed_change (
  facility_id text not null,
  group_id bigint not null,
  place int not null check (place >= 0),
  gateway_id text not null,
  op text not null check (op in ('put', 'remove')),
  kind text not null,
  key text not null,
  -- Without its version, which is its place in the feed.
  row jsonb,
  primary key (facility_id, group_id, place),
  check ((op = 'put') = (row is not null)),
  foreign key (facility_id, group_id) references feed_group (facility_id, id)
);
create index feed_change_key on feed_change (facility_id, kind, key);
select build.tenant_table('feed_change', app => 'select,insert', worker => 'select,insert,delete', gateway => 'select');

-- How far each gateway's feed is numbered, and the digest of what it holds there.
create table feed_head (
  facility_id text not null,
  gateway_id text not null,
  head_seq bigint not null default 0,
  -- Changes after this position are kept; who is behind it takes a snapshot.
  retained_from bigint not null default 0,
  -- Per kind the sum of the rows' hashes, hexadecimal.
  sums jsonb not null default '{}',
  numbered_at timestamptz not null default now(),
  primary key (facility_id, gateway_id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
select build.tenant_table('feed_head', app => 'select', worker => 'select,insert,update', gateway => 'select,insert,update');

-- The mirror: what a gateway that stands at the head holds. A row that was taken out stays as its own trace.
create table feed_row (
  facility_id text not null,
  gateway_id text not null,
  kind text not null,
  key text not null,
  -- Position of the change that put it there; the version on the wire.
  seq bigint not null,
  bucket int not null,
  hash bytea not null,
  -- Whom and what it concerns, for telling what is effective where.
  credential_id text,
  door_id text,
  -- NULL: taken out.
  row jsonb,
  numbered_at timestamptz not null default now(),
  primary key (facility_id, gateway_id, kind, key),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create index feed_row_credential on feed_row (facility_id, credential_id) where credential_id is not null;
create index feed_row_restricted on feed_row (facility_id, gateway_id, seq)
  where kind = 'credential' and row ->> 'status' <> 'issued';
select build.tenant_table('feed_row', app => 'select', worker => 'select,insert,update,delete', gateway => 'select');

-- The door process's newest signed word on where it stands.
create table feed_ack (
  facility_id text not null,
  gateway_id text not null,
  epoch int not null,
  cursor_seq bigint not null,
  digest text not null,
  -- Whether the digest was the cloud's at that position.
  is_same boolean not null,
  boot_id text not null,
  boot_count bigint not null,
  said_at timestamptz not null,
  received_at timestamptz not null default now(),
  primary key (facility_id, gateway_id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
select build.tenant_table('feed_ack', app => 'select', worker => 'select', gateway => 'select,insert,update');

-- How many acks of each boot of the door process were heard: what was said before is not heard again.
create table feed_ack_boot (
  facility_id text not null,
  gateway_id text not null,
  boot_id text not null,
  boot_count bigint not null,
  heard_at timestamptz not null default now(),
  primary key (facility_id, gateway_id, boot_id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
select build.tenant_table('feed_ack_boot', gateway => 'select,insert,update');

-- From when on a position was effective at the door: one row for each step of the cursor.
create table feed_effective (
  facility_id text not null,
  gateway_id text not null,
  cursor_seq bigint not null,
  previous_seq bigint not null,
  effective_at timestamptz not null,
  primary key (facility_id, gateway_id, cursor_seq),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
select build.tenant_table('feed_effective', app => 'select', worker => 'select,delete', gateway => 'select,insert,delete');

-- A frozen picture for a gateway that begins or is too far behind, so that it can be fetched in pieces.
create table feed_snapshot (
  facility_id text not null,
  id text not null,
  gateway_id text not null,
  cursor_seq bigint not null,
  digest text not null,
  chunk_count int not null,
  created_at timestamptz not null default now(),
  primary key (facility_id, id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create table feed_snapshot_chunk (
  facility_id text not null,
  snapshot_id text not null,
  place int not null,
  -- A JSON list of puts.
  rows text not null,
  primary key (facility_id, snapshot_id, place),
  foreign key (facility_id, snapshot_id) references feed_snapshot (facility_id, id)
);
create index feed_snapshot_gateway on feed_snapshot (facility_id, gateway_id);
select build.tenant_table('feed_snapshot', worker => 'delete', gateway => 'select,insert,update,delete');
select build.tenant_table('feed_snapshot_chunk', worker => 'delete', gateway => 'select,insert,delete');
select build.worker_finds('feed_snapshot');
select build.worker_finds('feed_snapshot_chunk');

-- Since when a position has been effective at a gateway's doors; NULL while it is not.
create function app.effective_at(facility text, gateway text, position_seq bigint) returns timestamptz
  language sql stable
  return (select e.effective_at from public.feed_effective e
    where e.facility_id = facility and e.gateway_id = gateway and e.cursor_seq >= position_seq
    order by e.cursor_seq limit 1);
grant execute on function app.effective_at(text, text, bigint) to kannuki_app, kannuki_worker, kannuki_gateway;
