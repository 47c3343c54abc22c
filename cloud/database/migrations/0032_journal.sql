-- Up: the history of each gateway, verified before it is stored, chained as it came.
create table journal_head (
  facility_id text not null,
  gateway_id text not null,
  epoch int not null,
  -- The last entry that is stored, and its hash.
  last_seq bigint not null default 0,
  last_hash bytea not null check (octet_length(last_hash) = 32),
  -- Raw Ed25519: the key that signed its first head, and the key that signs the next.
  first_key bytea not null check (octet_length(first_key) = 32),
  next_key bytea not null check (octet_length(next_key) = 32),
  began_at timestamptz not null default now(),
  moved_at timestamptz not null default now(),
  primary key (facility_id, gateway_id, epoch),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
select build.tenant_table('journal_head', app => 'select', worker => 'select', gateway => 'select,insert,update');

create table journal_signed_head (
  facility_id text not null,
  gateway_id text not null,
  epoch int not null,
  seq bigint not null,
  at timestamptz not null,
  hash bytea not null,
  next_key bytea not null,
  signature bytea not null,
  received_at timestamptz not null default now(),
  primary key (facility_id, gateway_id, epoch, seq),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create index journal_signed_head_age on journal_signed_head (received_at);
select build.tenant_table('journal_signed_head', app => 'select', worker => 'select', gateway => 'select,insert');
select build.policy('journal_signed_head', 'kannuki_worker', 'delete', 'received_at < now() - interval ''400 days''');
drop trigger refuse_delete on journal_signed_head;

create table journal_entry (
  facility_id text not null,
  gateway_id text not null,
  epoch int not null,
  seq bigint not null,
  boot_id text not null,
  at timestamptz not null,
  clock_state text not null,
  kind text not null,
  door_id text,
  request_id text,
  -- The canonical text that was hashed.
  body text not null,
  personal_hash bytea,
  prev_hash bytea not null,
  hash bytea not null,
  received_at timestamptz not null default now(),
  primary key (facility_id, gateway_id, epoch, seq),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create index journal_entry_at on journal_entry (facility_id, at, gateway_id, epoch, seq);
create index journal_entry_request on journal_entry (facility_id, request_id) where request_id is not null;
create index journal_entry_age on journal_entry (received_at);
select build.tenant_table('journal_entry', app => 'select', worker => 'select', gateway => 'select,insert');
-- Kept as long as the law of most places lets people be asked about it; then it goes.
select build.policy('journal_entry', 'kannuki_worker', 'delete', 'received_at < now() - interval ''400 days''');
drop trigger refuse_delete on journal_entry;

-- Values about persons: erasable, the chain holds only their salted hash.
create table journal_personal (
  facility_id text not null,
  gateway_id text not null,
  epoch int not null,
  seq bigint not null,
  salt bytea not null,
  value text not null,
  received_at timestamptz not null default now(),
  primary key (facility_id, gateway_id, epoch, seq)
);
create index journal_personal_age on journal_personal (received_at);
select build.tenant_table('journal_personal', app => 'select,delete', worker => 'select', gateway => 'select,insert');
select build.policy('journal_personal', 'kannuki_worker', 'delete', 'received_at < now() - interval ''400 days''');

-- What the door process let go before it was sent, by its own signed word.
create table journal_gap (
  facility_id text not null,
  gateway_id text not null,
  epoch int not null,
  from_seq bigint not null,
  to_seq bigint not null,
  last_hash bytea not null check (octet_length(last_hash) = 32),
  -- The key that signs the first head after it.
  next_key bytea not null check (octet_length(next_key) = 32),
  statement text not null,
  told_at timestamptz not null default now(),
  primary key (facility_id, gateway_id, epoch, from_seq),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
select build.tenant_table('journal_gap', app => 'select', worker => 'select', gateway => 'select,insert');

-- A second entry under a number that is taken: both are kept, and neither is believed more.
create table journal_fork (
  facility_id text not null,
  id bigint generated always as identity,
  gateway_id text not null,
  epoch int not null,
  seq bigint not null,
  held_hash bytea,
  told_hash bytea not null,
  -- The upload as it was told, from the differing entry on.
  told jsonb not null,
  told_at timestamptz not null default now(),
  primary key (facility_id, id),
  foreign key (facility_id, gateway_id) references gateway (facility_id, id)
);
create unique index journal_fork_once on journal_fork (facility_id, gateway_id, epoch, seq, told_hash);
select build.tenant_table('journal_fork', app => 'select', worker => 'select', gateway => 'select,insert');
