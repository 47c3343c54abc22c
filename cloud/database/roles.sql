-- The roles of a Kannuki database. They belong to the whole server, so this runs before every migration and creates
-- only what is missing. Needs a superuser (kannuki_backup is BYPASSRLS).
do $$
declare
  wanted text[] := array[
    'kannuki_owner nologin noinherit',
    'kannuki_migrator nologin noinherit',
    'kannuki_app nologin',
    'kannuki_worker nologin',
    'kannuki_gateway nologin',
    'kannuki_backup nologin bypassrls',
    'kannuki_ledger nologin noinherit',
    'kannuki_lookup nologin noinherit'
  ];
  item text;
begin
  foreach item in array wanted loop
    if not exists (select from pg_roles where rolname = split_part(item, ' ', 1)) then
      begin
        execute 'create role ' || item;
      exception when duplicate_object or unique_violation then
        null; -- another database of this server was quicker
      end;
    end if;
  end loop;
end
$$;

-- The owner hands functions to the two roles that nobody can become, so it must be their member, without their rights.
do $$
declare
  item text;
begin
  foreach item in array array['kannuki_ledger', 'kannuki_lookup'] loop
    if not pg_has_role('kannuki_owner', item, 'member') then
      begin
        execute format('grant %I to kannuki_owner', item);
      exception when unique_violation or duplicate_object then
        null;
      end;
    end if;
  end loop;
end
$$;
