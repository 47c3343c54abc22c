-- Who asks: claims set for one transaction, and the helpers by which a migration adds a table.
create schema app;
grant usage on schema app
  to kannuki_migrator, kannuki_app, kannuki_worker, kannuki_gateway, kannuki_backup, kannuki_ledger, kannuki_lookup;
grant create on schema app to kannuki_ledger, kannuki_lookup;

-- A setting that was never made reads NULL, one that a past transaction made reads '': both mean nobody.
create function app.claim(name text) returns text
  language sql stable parallel safe
  return nullif(current_setting('app.' || name, true), '');

create function app.user_id() returns text language sql stable parallel safe return app.claim('user_id');
create function app.gateway_id() returns text language sql stable parallel safe return app.claim('gateway_id');
create function app.organization_id() returns text language sql stable parallel safe return app.claim('organization_id');
create function app.actor() returns text language sql stable parallel safe return app.claim('actor');
create function app.include_deleted() returns boolean
  language sql stable parallel safe return coalesce(app.claim('include_deleted') = 'on', false);

-- The facilities this transaction may touch; none is the empty array. In PL/pgSQL, since nearly every statement's plan
-- holds it: a function in SQL is parsed and inlined anew for each, this one is kept by the session.
create function app.facility_ids() returns text[]
  language plpgsql stable parallel safe as $$
begin
  return coalesce(nullif(current_setting('app.facility_ids', true), '')::text[], '{}');
end
$$;

create function app.role_in(facility text) returns text
  language sql stable parallel safe return app.claim('roles')::jsonb ->> facility;

-- Of the claimed facilities, those in which the caller has one of these roles.
create function app.facilities_as(variadic wanted text[]) returns text[]
  language sql stable parallel safe
  return coalesce((
    select array_agg(held.key)
    from jsonb_each_text(coalesce(app.claim('roles')::jsonb, '{}')) held
    where held.value = any (wanted) and held.key = any (app.facility_ids())
  ), '{}');

grant execute on all functions in schema app
  to kannuki_migrator, kannuki_app, kannuki_worker, kannuki_gateway, kannuki_ledger, kannuki_lookup;

-- Row and statement triggers that tables share.
create function app.refuse_statement() returns trigger
  language plpgsql as $$
begin
  raise exception using errcode = 'KN013',
    message = format('%s of %s is refused', lower(tg_op), tg_table_name);
end
$$;

-- Rows that are history are not deleted; only a reviewed migration may.
create function app.refuse_delete() returns trigger
  language plpgsql as $$
begin
  if current_user = 'kannuki_migrator' then return null; end if;
  raise exception using errcode = 'KN013', message = format('delete of %s is refused', tg_table_name);
end
$$;

-- The owner owns; it does not write. (Its rights must stay: foreign keys are checked in its name.)
create function app.refuse_owner() returns trigger
  language plpgsql as $$
begin
  if current_user <> 'kannuki_owner' then return null; end if;
  raise exception using errcode = 'KN013',
    message = format('%s of %s by its owner is refused', lower(tg_op), tg_table_name);
end
$$;

-- A row keeps its tenant and its id for good, whoever holds claims for two tenants. Fires only where they would change.
create function app.keep_key() returns trigger
  language plpgsql as $$
begin
  raise exception using errcode = 'KN014', message = format('the key of a row of %s cannot change', tg_table_name);
end
$$;

-- Helpers for migrations; nobody but the owner may call them.
create schema build;

create function build.has_column(target regclass, wanted text) returns boolean
  language sql stable
  return exists (
    select from pg_attribute where attrelid = target and attname = wanted and attnum > 0 and not attisdropped);

-- One policy for one role and one command, and the right that goes with it.
create function build.policy(target regclass, to_role text, command text, tenant text) returns void
  language plpgsql as $$
declare
  policy_name text := (select relname from pg_class where oid = target) || '_' || replace(to_role, 'kannuki_', '')
    || '_' || command;
  clause text := case command
    when 'insert' then format('with check (%s)', tenant)
    when 'update' then format('using (%1$s) with check (%1$s)', tenant)
    else format('using (%s)', tenant)
  end;
begin
  if command not in ('select', 'insert', 'update', 'delete') then
    raise exception 'no such command: %', command;
  end if;
  execute format('grant %s on %s to %I', command, target, to_role);
  execute format('create policy %I on %s for %s to %I %s', policy_name, target, command, to_role, clause);
end
$$;

-- Row security on, for the owner too; what every table has, whoever may use it.
create function build.protect(target regclass) returns void
  language plpgsql as $$
declare
  command text;
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('grant select on %s to kannuki_backup', target);
  foreach command in array array['select', 'insert', 'update', 'delete'] loop
    perform build.policy(target, 'kannuki_migrator', command, 'true');
  end loop;
  execute format('create trigger refuse_truncate before truncate on %s for each statement
    execute function app.refuse_statement()', target);
  execute format('create trigger refuse_owner before insert or update or delete on %s for each statement
    execute function app.refuse_owner()', target);
end
$$;

-- A table of tenants' rows. Each list names the commands a role may use, e.g. 'select,insert,update'; every one of its
-- policies carries the tenant test. `tenant` replaces the test where the tenant is not `facility_id`.
create function build.tenant_table(
  target regclass,
  app text default '',
  worker text default '',
  gateway text default '',
  tenant text default 'facility_id = any ((select app.facility_ids())::text[])'
) returns void
  language plpgsql as $$
declare
  command text;
begin
  perform build.protect(target);
  for command in select trim(item) from unnest(string_to_array(app, ',')) item loop
    perform build.policy(target, 'kannuki_app', command, tenant);
  end loop;
  for command in select trim(item) from unnest(string_to_array(worker, ',')) item loop
    perform build.policy(target, 'kannuki_worker', command, tenant);
  end loop;
  for command in select trim(item) from unnest(string_to_array(gateway, ',')) item loop
    perform build.policy(target, 'kannuki_gateway', command, tenant);
  end loop;
  perform build.keep_key(target);
  if concat(app, worker, gateway) not like '%delete%' then
    execute format('create trigger refuse_delete before delete on %s for each statement
      execute function app.refuse_delete()', target);
  end if;
  if build.has_column(target, 'deleted_at') then perform build.hide_deleted(target); end if;
end
$$;

create function build.keep_key(target regclass) returns void
  language plpgsql as $$
declare
  changed text := (
    select string_agg(format('old.%1$I is distinct from new.%1$I', wanted), ' or ')
    from unnest(array['facility_id', 'id']) wanted where build.has_column(target, wanted));
begin
  if changed is null then return; end if;
  execute format('create trigger keep_key before update on %s for each row when (%s) execute function app.keep_key()',
    target, changed);
end
$$;

-- Rows with a `deleted_at` are seen and changed only where app.include_deleted is on.
create function build.hide_deleted(target regclass) returns void
  language plpgsql as $$
declare
  base text := (select relname from pg_class where oid = target);
  shown text := 'deleted_at is null or (select app.include_deleted())';
  readers text := 'kannuki_app, kannuki_worker, kannuki_gateway';
begin
  execute format('create policy %I on %s as restrictive for select to %s using (%s)',
    base || '_not_deleted_select', target, readers, shown);
  execute format('create policy %I on %s as restrictive for update to %s using (%s) with check (true)',
    base || '_not_deleted_update', target, readers, shown);
end
$$;

-- The worker may look across tenants to find work; it writes only inside one tenant's claims.
create function build.worker_finds(target regclass) returns void
  language sql
  begin atomic
    select build.policy(target, 'kannuki_worker', 'select', 'true');
  end;

-- Lets the functions of kannuki_lookup read a table, and insert or change it where they must.
create function build.lookup_table(target regclass, commands text default 'select') returns void
  language plpgsql as $$
declare
  command text;
begin
  for command in select trim(item) from unnest(string_to_array(commands, ',')) item loop
    perform build.policy(target, 'kannuki_lookup', command, 'true');
  end loop;
end
$$;

-- A function that runs as another role, under a pinned search_path: as kannuki_lookup where it reads before any claims
-- exist (a token, a code, a key), as kannuki_ledger where it writes logs. `callers` are roles, e.g. 'app,gateway'.
create function build.definer(target regprocedure, as_role text, callers text default '') returns void
  language plpgsql as $$
declare
  caller text;
begin
  execute format('alter function %s security definer set search_path = pg_catalog, public, pg_temp', target);
  execute format('revoke all on function %s from public', target);
  for caller in select trim(item) from unnest(string_to_array(callers, ',')) item loop
    execute format('grant execute on function %s to %I', target, 'kannuki_' || caller);
  end loop;
  execute format('alter function %s owner to %I', target, as_role);
  -- The owner still makes triggers of it, which takes the right to call it.
  execute format('set local role %I', as_role);
  execute format('grant execute on function %s to kannuki_owner', target);
  set local role kannuki_owner;
end
$$;

-- What is written once stays: no UPDATE, DELETE or TRUNCATE by anyone, not even of no rows.
create function build.append_only(target regclass) returns void
  language plpgsql as $$
begin
  execute format('create trigger append_only before update or delete on %s for each statement
    execute function app.refuse_statement()', target);
end
$$;

-- A table that belongs to no tenant and that everyone may read.
create function build.global_table(target regclass) returns void
  language plpgsql as $$
declare
  reader text;
begin
  perform build.protect(target);
  foreach reader in array array['kannuki_app', 'kannuki_worker', 'kannuki_gateway', 'kannuki_ledger', 'kannuki_lookup'] loop
    perform build.policy(target, reader, 'select', 'true');
  end loop;
  execute format('comment on table %s is %L', target, 'global: ' || coalesce(obj_description(target), ''));
end
$$;
