-- What one database needs before its first migration, and what must be so before every later one.
create extension if not exists btree_gist with schema public;

do $$
begin
  execute format('revoke all on database %I from public', current_database());
  execute format(
    'grant connect on database %I to kannuki_owner, kannuki_migrator, kannuki_app, kannuki_worker, kannuki_gateway, kannuki_backup',
    current_database());
  execute format('grant create on database %I to kannuki_owner', current_database());
end
$$;

revoke all on schema public from public;
grant usage on schema public
  to kannuki_migrator, kannuki_app, kannuki_worker, kannuki_gateway, kannuki_backup, kannuki_ledger, kannuki_lookup;
grant usage, create on schema public to kannuki_owner;
-- No function is anybody's until it is granted.
alter default privileges for role kannuki_owner revoke execute on functions from public;
-- A dump reads where sequences stand.
alter default privileges for role kannuki_owner grant select on sequences to kannuki_backup;

create table if not exists public.schema_migration (
  number int primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now()
);
alter table public.schema_migration owner to kannuki_owner;
alter table public.schema_migration enable row level security;
alter table public.schema_migration force row level security;
comment on table public.schema_migration is 'global: which migrations this database has seen';
grant select on public.schema_migration to kannuki_app, kannuki_worker, kannuki_gateway, kannuki_backup;
