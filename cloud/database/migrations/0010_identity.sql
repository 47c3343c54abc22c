-- People, what they belong to, and how they come in. A user is one person across facilities; a role is theirs in one.
create table organization (
  id text primary key,
  name text not null check (length(name) between 1 and 120),
  version int not null default 1,
  created_at timestamptz not null default now()
);
comment on table organization is 'tenant: id is the organization';

create table facility (
  id text primary key,
  organization_id text not null references organization (id),
  name text not null check (length(name) between 1 and 120),
  zone text not null check (length(zone) between 1 and 64),
  language text not null default 'ja' check (language in ('en', 'ja')),
  pin_salt bytea not null check (octet_length(pin_salt) = 16),
  -- Under the cloud's key file, with the facility's id as its name.
  lookup_key_sealed bytea not null,
  created_by text not null,
  version int not null default 1,
  created_at timestamptz not null default now()
);
create index facility_organization on facility (organization_id);
comment on table facility is 'tenant: id is the facility';

create table app_user (
  id text primary key,
  -- Lower case: one address is one person.
  email text not null unique check (length(email) between 3 and 254 and email = lower(email)),
  email_verified_at timestamptz,
  name text not null check (length(name) between 1 and 120),
  language text not null default 'ja' check (language in ('en', 'ja')),
  disabled_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now()
);
comment on table app_user is 'tenant: id is the person';

create table user_password (
  user_id text primary key references app_user (id),
  hash text not null check (hash like '$argon2id$%'),
  changed_at timestamptz not null default now()
);
comment on table user_password is 'tenant: user_id is the person';

create table user_account (
  issuer text not null check (length(issuer) between 1 and 512),
  subject text not null check (length(subject) between 1 and 255),
  user_id text not null references app_user (id),
  linked_at timestamptz not null default now(),
  primary key (issuer, subject)
);
create index user_account_user on user_account (user_id);
comment on table user_account is 'tenant: user_id is the person; an account at a sign-in provider';

create table role_assignment (
  facility_id text not null references facility (id),
  id text not null,
  user_id text not null references app_user (id),
  role text not null check (role in ('owner', 'facility_manager', 'staff', 'technician', 'guest')),
  assigned_by text not null,
  version int not null default 1,
  created_at timestamptz not null default now(),
  primary key (facility_id, id),
  unique (facility_id, user_id)
);
create index role_assignment_user on role_assignment (user_id);

create table invitation (
  facility_id text not null references facility (id),
  id text not null,
  email text not null check (length(email) between 3 and 254 and email = lower(email)),
  role text not null check (role in ('owner', 'facility_manager', 'staff', 'technician', 'guest')),
  status text not null default 'sent',
  token_hash bytea not null check (octet_length(token_hash) = 32),
  invited_by text not null references app_user (id),
  expires_at timestamptz not null,
  accepted_by text references app_user (id),
  accepted_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  primary key (facility_id, id),
  check ((status = 'accepted') = (accepted_by is not null)),
  check ((accepted_by is null) = (accepted_at is null))
);
create index invitation_token on invitation (token_hash);
create unique index invitation_open on invitation (facility_id, email) where status = 'sent';

create table user_session (
  id text primary key,
  user_id text not null references app_user (id),
  refresh_hash bytea not null unique check (octet_length(refresh_hash) = 32),
  -- The token before, good for a moment: an answer may be lost on the way.
  previous_hash bytea unique check (octet_length(previous_hash) = 32),
  refreshed_at timestamptz not null default now(),
  idle_until timestamptz not null,
  ends_at timestamptz not null,
  ended_at timestamptz,
  created_at timestamptz not null default now()
);
create index user_session_user on user_session (user_id);
comment on table user_session is 'tenant: user_id is the person';

-- Wrong passwords by address, whether or not anybody has it.
create table login_failure (
  -- SHA-256 of the address.
  id text primary key check (id ~ '^[0-9a-f]{64}$'),
  failures int not null default 0,
  locked_until timestamptz,
  failed_at timestamptz not null default now()
);
create index login_failure_age on login_failure (failed_at);
comment on table login_failure is 'tenant: id is whoever tries to come in';

-- A sign-in at a provider that has begun: each state is good for one return.
create table oidc_attempt (
  id text primary key check (id ~ '^[0-9a-f]{64}$'),
  nonce text not null,
  verifier_sealed bytea not null,
  expires_at timestamptz not null
);
create index oidc_attempt_age on oidc_attempt (expires_at);
comment on table oidc_attempt is 'tenant: id is whoever tries to come in';

create table service_token (
  facility_id text not null references facility (id),
  id text not null,
  name text not null check (length(name) between 1 and 120),
  actions text[] not null check (cardinality(actions) between 1 and 32),
  token_hash bytea not null check (octet_length(token_hash) = 32),
  created_by text not null references app_user (id),
  expires_at timestamptz,
  revoked_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  primary key (facility_id, id)
);
create index service_token_hash on service_token (token_hash);

-- Who may see and write what.
create function app.role_rank(role text) returns int
  language sql immutable parallel safe
  return case role when 'owner' then 3 when 'facility_manager' then 2 when 'staff' then 1 when 'technician' then 1
    when 'guest' then 0 end;
-- The roles the caller may give and take in a facility: none above their own, and only as owner or manager.
create function app.may_assign(facility text, role text) returns boolean
  language sql stable parallel safe
  return coalesce(facility = any (app.facility_ids())
    and app.role_in(facility) in ('owner', 'facility_manager')
    and app.role_rank(role) <= app.role_rank(app.role_in(facility)), false);
grant execute on function app.role_rank(text), app.may_assign(text, text)
  to kannuki_app, kannuki_worker, kannuki_gateway, kannuki_migrator;

select build.protect('organization');
select build.policy('organization', 'kannuki_app', 'select',
  'id = (select app.organization_id()) or exists (
     select from facility f where f.organization_id = organization.id and f.id = any ((select app.facility_ids())::text[]))');
select build.policy('organization', 'kannuki_app', 'insert', 'id = (select app.organization_id())');
select build.policy('organization', 'kannuki_app', 'update', 'id = (select app.organization_id())');

select build.protect('facility');
select build.policy('facility', actor, 'select', 'id = any ((select app.facility_ids())::text[])')
  from unnest(array['kannuki_app', 'kannuki_gateway']) actor;
select build.policy('facility', 'kannuki_app', 'insert',
  'id = any ((select app.facility_ids())::text[]) and organization_id = (select app.organization_id())
   and created_by = (select app.user_id())');
select build.policy('facility', 'kannuki_app', 'update', 'id = any ((select app.facility_ids())::text[])');
select build.worker_finds('facility');

select build.protect('app_user');
select build.policy('app_user', 'kannuki_app', 'select',
  'id = (select app.user_id()) or exists (
     select from role_assignment r where r.user_id = app_user.id and r.facility_id = any ((select app.facility_ids())::text[]))');
select build.policy('app_user', 'kannuki_app', 'insert', 'id = (select app.user_id())');
select build.policy('app_user', 'kannuki_app', 'update', 'id = (select app.user_id())');

select build.protect('user_password');
select build.policy('user_password', 'kannuki_app', command, 'user_id = (select app.user_id())')
  from unnest(array['select', 'insert', 'update']) command;
select build.protect('user_account');
select build.policy('user_account', 'kannuki_app', command, 'user_id = (select app.user_id())')
  from unnest(array['select', 'insert']) command;
select build.protect('user_session');
select build.policy('user_session', 'kannuki_app', command, 'user_id = (select app.user_id())')
  from unnest(array['select', 'insert', 'update']) command;
select build.policy('user_session', 'kannuki_worker', command, 'ends_at < now() - interval ''30 days''')
  from unnest(array['select', 'delete']) command;

select build.protect('login_failure');
select build.policy('login_failure', 'kannuki_app', command, 'id = (select app.claim(''entrance''))')
  from unnest(array['select', 'insert', 'update', 'delete']) command;
select build.policy('login_failure', 'kannuki_worker', command, 'failed_at < now() - interval ''1 day''')
  from unnest(array['select', 'delete']) command;
select build.protect('oidc_attempt');
select build.policy('oidc_attempt', 'kannuki_app', command, 'id = (select app.claim(''entrance''))')
  from unnest(array['select', 'insert', 'delete']) command;
select build.policy('oidc_attempt', 'kannuki_worker', command, 'expires_at < now()')
  from unnest(array['select', 'delete']) command;

-- Roles: read inside the tenant; written by who may assign, never for oneself. Two exceptions, both bound to what this
-- very transaction did: who made a facility becomes its owner, who accepted an invitation gets its role.
select build.tenant_table('invitation', app => 'select', worker => 'update');
select build.policy('invitation', 'kannuki_app', 'insert', 'app.may_assign(facility_id, role) and invited_by = (select app.user_id())');
select build.policy('invitation', 'kannuki_app', 'update',
  'facility_id = any ((select app.facility_ids())::text[])
   and (app.may_assign(facility_id, role) or accepted_by = (select app.user_id()) or id = (select app.claim(''entrance'')))');
select build.worker_finds('invitation');
select build.machine('invitation', 'invitation');

select build.tenant_table('role_assignment', app => 'select');
select build.policy('role_assignment', 'kannuki_app', 'insert',
  'facility_id = any ((select app.facility_ids())::text[]) and (
     (user_id <> (select app.user_id()) and app.may_assign(facility_id, role))
     or (user_id = (select app.user_id()) and role = ''owner'' and exists (
       select from facility f where f.id = facility_id and f.created_by = (select app.user_id()) and f.created_at = now()))
     or (user_id = (select app.user_id()) and exists (
       select from invitation i where i.facility_id = role_assignment.facility_id and i.role = role_assignment.role
         and i.accepted_by = (select app.user_id()) and i.accepted_at = now())))');
select build.policy('role_assignment', 'kannuki_app', command,
  'user_id <> (select app.user_id()) and app.may_assign(facility_id, role)')
  from unnest(array['update', 'delete']) command;
drop trigger refuse_delete on role_assignment;

select build.tenant_table('service_token', app => 'select');
select build.policy('service_token', 'kannuki_app', command,
  'facility_id = any ((select app.facilities_as(''owner''))::text[])')
  from unnest(array['insert', 'update']) command;

-- Of a row that may be changed, only what may change.
do $$
declare
  changed record;
begin
  for changed in select * from (values
    ('organization', 'name, version'),
    ('facility', 'name, zone, language, version'),
    ('app_user', 'name, language, disabled_at, version'),
    ('user_password', 'hash, changed_at'),
    ('user_session', 'refresh_hash, previous_hash, refreshed_at, idle_until, ended_at'),
    ('invitation', 'status, accepted_by, accepted_at, version'),
    ('role_assignment', 'role, assigned_by, version'),
    ('service_token', 'revoked_at, version')) listed (name, columns)
  loop
    execute format('revoke update on %I from kannuki_app', changed.name);
    execute format('grant update (%s) on %I to kannuki_app', changed.columns, changed.name);
  end loop;
end
$$;

-- Before anybody is known: from what was presented to whom it belongs, and nothing more.
select build.lookup_table(name::regclass) from unnest(array['app_user', 'user_account', 'user_session', 'role_assignment',
  'facility', 'invitation', 'service_token']) name;

create function app.user_by_email(presented text) returns text
  language sql stable as 'select id from app_user where email = lower(presented) and disabled_at is null';
select build.definer('app.user_by_email(text)', 'kannuki_lookup', 'app');

create function app.user_by_account(presented_issuer text, presented_subject text) returns text
  language sql stable as
  'select u.id from user_account a join app_user u on u.id = a.user_id
   where a.issuer = presented_issuer and a.subject = presented_subject and u.disabled_at is null';
select build.definer('app.user_by_account(text, text)', 'kannuki_lookup', 'app');

create function app.session_by_refresh(presented bytea) returns table (session_id text, user_id text)
  language sql stable as
  'select s.id, s.user_id from user_session s where s.refresh_hash = presented or s.previous_hash = presented';
select build.definer('app.session_by_refresh(bytea)', 'kannuki_lookup', 'app');

create function app.roles_of(person text) returns table (roles jsonb, organizations jsonb)
  language sql stable as
  'select coalesce(jsonb_object_agg(r.facility_id, r.role), ''{}''), coalesce(jsonb_object_agg(r.facility_id, f.organization_id), ''{}'')
   from role_assignment r join facility f on f.id = r.facility_id where r.user_id = person';
select build.definer('app.roles_of(text)', 'kannuki_lookup', 'app');

-- What is left of a session now: nobody, if it or the person has ended.
create function app.session_roles(presented text) returns table (user_id text, roles jsonb, organizations jsonb)
  language sql stable as
  'select s.user_id, h.roles, h.organizations
   from user_session s join app_user u on u.id = s.user_id, app.roles_of(s.user_id) h
   where s.id = presented and s.ended_at is null and s.idle_until > now() and s.ends_at > now() and u.disabled_at is null';
select build.definer('app.session_roles(text)', 'kannuki_lookup', 'app');

create function app.token_by_hash(presented bytea)
  returns table (facility_id text, token_id text, actions text[], organization_id text)
  language sql stable as
  'select t.facility_id, t.id, t.actions, f.organization_id from service_token t join facility f on f.id = t.facility_id
   where t.token_hash = presented and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())';
select build.definer('app.token_by_hash(bytea)', 'kannuki_lookup', 'app');

create function app.invitation_by_token(presented bytea) returns table (facility_id text, invitation_id text, email text)
  language sql stable as
  'select i.facility_id, i.id, i.email from invitation i where i.token_hash = presented';
select build.definer('app.invitation_by_token(bytea)', 'kannuki_lookup', 'app');
