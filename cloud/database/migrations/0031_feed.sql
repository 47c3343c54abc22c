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
  -- Over all kinds, as of `last_seq`.
  end_digest text check (end_digest ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default now(),
  numbered_at timestamptz,
  primary key (facility_id, id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id),
  check (num_nulls(first_seq, last_seq, end_digest, numbered_at) in (0, 4))
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

-- Where credentials stand at the doors they are granted, or were: what is queued for them, numbered, effective.
create function app.credential_delivery(facility text, credentials text[], unseen interval)
  returns table (credential text, door text, gateway text, queued_at timestamptz, numbered_at timestamptz,
    effective_at timestamptz, last_seen_at timestamptz, is_seen boolean, now timestamptz)
  language sql stable as $$
  with granted as (
    select s.row ->> 'credential' as credential, s.door_id as door from public.feed_source s
    where s.facility_id = facility and s.kind = 'grant' and s.row ->> 'credential' = any (credentials)
    union
    select r.credential_id, r.door_id from public.feed_row r
    join public.door_binding b on b.facility_id = r.facility_id and b.door_id = r.door_id and b.gateway_id = r.gateway_id
    where r.facility_id = facility and r.kind = 'grant' and r.credential_id = any (credentials)
  ), placed as (
    select g.credential, g.door, b.gateway_id as gateway from granted g
    left join public.door_binding b on b.facility_id = facility and b.door_id = g.door
  ), held as (
    select p.credential, p.door, p.gateway, max(r.seq) as seq, max(r.numbered_at) as numbered_at, count(r.seq) as rows
    from placed p
    left join public.feed_row r on r.facility_id = facility and r.gateway_id = p.gateway and r.credential_id = p.credential
      and (r.door_id is null or r.door_id = p.door)
    group by p.credential, p.door, p.gateway
  ), queued as (
    select h.credential, h.door, max(f.created_at) as queued_at from held h
    join public.feed_change c on c.facility_id = facility and c.gateway_id = h.gateway
      and ((c.kind = 'credential' and c.key = h.credential)
        or (c.kind = 'grant' and starts_with(c.key, h.credential || ' ' || h.door || ' ')))
    join public.feed_group f on f.facility_id = c.facility_id and f.id = c.group_id and f.last_seq is null
    group by h.credential, h.door
  )
  select h.credential, h.door, h.gateway, q.queued_at, h.numbered_at,
    case when h.rows > 0 then app.effective_at(facility, h.gateway, h.seq) end,
    e.last_seen_at, coalesce(e.last_seen_at > now() - unseen, false), now()
  from held h
  left join queued q on q.credential = h.credential and q.door = h.door
  left join public.gateway_health e on e.facility_id = facility and e.gateway_id = h.gateway
  order by h.credential, h.door
$$;
grant execute on function app.credential_delivery(text, text[], interval) to kannuki_app, kannuki_worker;
