-- Who may open what: holders, doors with their readers and groups, times, credentials and grants.
create table holder (
  facility_id text not null references facility (id),
  id text not null,
  -- Personal; an erased holder has none of it.
  name text check (length(btrim(name)) between 1 and 120),
  email text check (length(email) <= 254),
  external_ref text check (length(external_ref) between 1 and 120),
  -- The holder's account: the keys then come with its role here.
  user_id text,
  version int not null default 1,
  created_at timestamptz not null default now(),
  erased_at timestamptz,
  primary key (facility_id, id),
  check (erased_at is null or num_nonnulls(name, email, external_ref, user_id) = 0),
  check (erased_at is not null or name is not null)
);
create unique index holder_external_ref on holder (facility_id, external_ref);
create index holder_user on holder (facility_id, user_id) where user_id is not null;
select build.tenant_table('holder', app => 'select,insert,update', worker => 'update');
select build.worker_finds('holder');

create table schedule (
  facility_id text not null references facility (id),
  id text not null,
  name text not null check (length(btrim(name)) between 1 and 120),
  -- As in the replica's row.
  weekly jsonb not null check (jsonb_typeof(weekly) = 'array'),
  on_holidays jsonb not null check (jsonb_typeof(on_holidays) = 'array'),
  version int not null default 1,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (facility_id, id)
);
create unique index schedule_name on schedule (facility_id, name) where deleted_at is null;
select build.tenant_table('schedule', app => 'select,insert,update', worker => 'select');

create table holiday (
  facility_id text not null references facility (id),
  id text not null,
  name text not null check (length(btrim(name)) between 1 and 120),
  -- A day in the facility's zone.
  date date not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (facility_id, id)
);
create unique index holiday_date on holiday (facility_id, date) where deleted_at is null;
select build.tenant_table('holiday', app => 'select,insert,update', worker => 'select');

create table door (
  facility_id text not null references facility (id),
  id text not null,
  name text not null check (length(btrim(name)) between 1 and 120),
  -- As in the replica's row, without id, name and version.
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  version int not null default 1,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (facility_id, id)
);
create unique index door_name on door (facility_id, name) where deleted_at is null;
select build.tenant_table('door', app => 'select,insert,update', worker => 'select', gateway => 'select');

create table reader (
  facility_id text not null references facility (id),
  id text not null,
  door_id text not null,
  name text not null check (length(btrim(name)) between 1 and 120),
  -- As in the replica's row, without id, name, door and version.
  settings jsonb not null check (jsonb_typeof(settings) = 'object'),
  version int not null default 1,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (facility_id, id),
  foreign key (facility_id, door_id) references door (facility_id, id)
);
create index reader_door on reader (facility_id, door_id) where deleted_at is null;
select build.tenant_table('reader', app => 'select,insert,update', worker => 'select', gateway => 'select');

create table door_group (
  facility_id text not null references facility (id),
  id text not null,
  name text not null check (length(btrim(name)) between 1 and 120),
  version int not null default 1,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (facility_id, id)
);
create unique index door_group_name on door_group (facility_id, name) where deleted_at is null;
select build.tenant_table('door_group', app => 'select,insert,update', worker => 'select');

create table door_group_member (
  facility_id text not null references facility (id),
  group_id text not null,
  door_id text not null,
  primary key (facility_id, group_id, door_id),
  foreign key (facility_id, group_id) references door_group (facility_id, id),
  foreign key (facility_id, door_id) references door (facility_id, id)
);
create index door_group_member_door on door_group_member (facility_id, door_id);
select build.tenant_table('door_group_member', app => 'select,insert,delete', worker => 'select');

create table credential (
  facility_id text not null references facility (id),
  id text not null,
  holder_id text not null,
  kind text not null check (kind in ('card', 'pin', 'pass')),
  status text not null default 'issued',
  -- By which a door finds it; unique, so that one card has one owner. NULL: a pass, or of what ended and is forgotten.
  lookup text check (lookup ~ '^[0-9a-f]{64}$'),
  -- Card bits, PIN or pass, sealed under the cloud's key; forgotten when it ends.
  value_sealed bytea check (octet_length(value_sealed) <= 4096),
  pin_digits smallint check (pin_digits between 4 and 10),
  card_bits smallint check (card_bits between 1 and 255),
  -- Half-open validity [valid_from, valid_until).
  valid_from timestamptz,
  valid_until timestamptz,
  -- How long it is honoured without contact with the cloud; NULL = unlimited.
  lease_ms bigint check (lease_ms between 1000 and 31622400000),
  uses_max int check (uses_max between 1 and 1000000),
  is_duress boolean not null default false,
  overrides_lockdown boolean not null default false,
  needs_extended_time boolean not null default false,
  is_first_person boolean not null default false,
  -- The one in whose place it was issued.
  replaces text,
  version int not null default 1,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (facility_id, id),
  foreign key (facility_id, holder_id) references holder (facility_id, id),
  foreign key (facility_id, replaces) references credential (facility_id, id),
  check (valid_from is null or valid_until is null or valid_from < valid_until),
  check ((kind = 'pin') = (pin_digits is not null)),
  check ((kind = 'card') = (card_bits is not null)),
  check (kind <> 'pass' or (lookup is null and valid_until is not null)),
  check ((status in ('issued', 'suspended')) = (ended_at is null)),
  check (ended_at is null or value_sealed is null)
);
create unique index credential_lookup on credential (facility_id, lookup);
create index credential_holder on credential (facility_id, holder_id, id);
create index credential_ending on credential (valid_until) where status in ('issued', 'suspended');
create index credential_ended on credential (ended_at) where lookup is not null;
select build.tenant_table('credential', app => 'select,insert,update', worker => 'update');
select build.worker_finds('credential');
select build.machine('credential', 'credential');

create table credential_grant (
  facility_id text not null references facility (id),
  id text not null,
  credential_id text not null,
  door_id text,
  group_id text,
  -- NULL = at all times.
  schedule_id text,
  valid_from timestamptz,
  valid_until timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  primary key (facility_id, id),
  foreign key (facility_id, credential_id) references credential (facility_id, id),
  foreign key (facility_id, door_id) references door (facility_id, id),
  foreign key (facility_id, group_id) references door_group (facility_id, id),
  foreign key (facility_id, schedule_id) references schedule (facility_id, id),
  check (num_nonnulls(door_id, group_id) = 1),
  check (valid_from is null or valid_until is null or valid_from < valid_until)
);
create index credential_grant_credential on credential_grant (facility_id, credential_id) where deleted_at is null;
create index credential_grant_door on credential_grant (facility_id, door_id) where deleted_at is null;
create index credential_grant_group on credential_grant (facility_id, group_id) where deleted_at is null;
create index credential_grant_schedule on credential_grant (facility_id, schedule_id) where deleted_at is null;
select build.tenant_table('credential_grant', app => 'select,insert,update', worker => 'select');

-- A reader waits for a card that is to be enrolled, for a short while; what was shown is kept sealed by gateway-sync.
create table enrolment_window (
  facility_id text not null references facility (id),
  id text not null,
  reader_id text not null,
  gateway_id text not null,
  opened_by text not null,
  opened_at timestamptz not null default now(),
  closes_at timestamptz not null,
  -- The card was given to a credential.
  used_at timestamptz,
  version int not null default 1,
  primary key (facility_id, id),
  foreign key (facility_id, reader_id) references reader (facility_id, id),
  check (closes_at > opened_at)
);
create index enrolment_window_closed on enrolment_window (closes_at);
select build.tenant_table('enrolment_window', app => 'select,insert,update');
select build.policy('enrolment_window', 'kannuki_worker', command, 'closes_at < now() - interval ''1 day''')
  from unnest(array['select', 'delete']) command;
drop trigger refuse_delete on enrolment_window;

-- The sweep asks whether the role is still there with which a holder's keys come.
select build.worker_finds('role_assignment');
