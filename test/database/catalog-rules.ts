/**
 * What every table, policy, key, function and view must be, as queries over the catalog that find what is not, each with
 * a statement that breaks it, so that a query which finds nothing anywhere is found out.
 *
 * A table says by its comment if it is not a tenant's: `global: …` (nobody's, readable by all), or
 * `tenant: <column> is …` (keyed by an organization, a facility or a person instead of by `facility_id`).
 */
import { sql } from 'kysely';
import type { Database } from '#cloud/database/pool.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';

export interface CatalogRule {
  readonly says: string;
  /** What breaks the rule, by name. */
  readonly breaches: (database: Database | TenantTransaction) => Promise<readonly string[]>;
  /** A statement, run by the superuser, that breaks it. */
  readonly breach: string;
}

const rule = (says: string, query: string, breach: string): CatalogRule => ({
  says,
  breach,
  breaches: async (database) =>
    (await sql.raw<{ breach: string }>(`${sources} ${query}`).execute(database)).rows.map((row) => row.breach),
});

/** Everything of ours: nothing of the server, nothing of an extension. */
const sources = `
  with ours as (
    select c.oid, c.relname::text as name, c.relkind, c.relowner, c.relrowsecurity, c.relforcerowsecurity, c.reloptions,
      coalesce(obj_description(c.oid, 'pg_class'), '') as comment, n.nspname::text as schema
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and n.nspname not like 'pg_temp%'
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  ), tables as (select * from ours where relkind in ('r', 'p')),
  columns as (
    select t.oid, t.name as table_name, a.attname::text as name, a.attnum
    from tables t join pg_attribute a on a.attrelid = t.oid where a.attnum > 0 and not a.attisdropped
  ), speakers as (
    select oid, rolname::text as name from pg_roles where rolname in ('kannuki_app', 'kannuki_worker', 'kannuki_gateway')
  ), policies as (
    select p.oid, t.name as table_name, t.comment, t.oid as table_oid, p.polname::text as name, p.polpermissive as is_permissive,
      p.polcmd::text as command, r.name as role, coalesce(pg_get_expr(p.polqual, p.polrelid), '') as shown,
      coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '') as checked
    from pg_policy p join tables t on t.oid = p.polrelid
    left join speakers r on r.oid = any (p.polroles)
  ), functions as (
    select p.oid, p.oid::regprocedure::text as name, p.proowner, p.prosecdef, p.proconfig, p.proacl, p.prosrc, p.prorettype,
      coalesce(p.proargnames, '{}') as arguments
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname not in ('pg_catalog', 'information_schema')
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
  ), commands as (
    select * from (values ('r', 'SELECT'), ('a', 'INSERT'), ('w', 'UPDATE'), ('d', 'DELETE')) command (letter, word)
  )`;

const claims = String.raw`app\.(facility_ids|facilities_as|user_id|gateway_id|organization_id|actor|claim|may_assign)\(`;

export const catalogRules: readonly CatalogRule[] = [
  rule(
    'every table has row security enabled and forced',
    'select name as breach from tables where not (relrowsecurity and relforcerowsecurity)',
    'alter table lamp no force row level security',
  ),
  rule(
    'every table belongs to kannuki_owner',
    `select name as breach from ours where relowner <> 'kannuki_owner'::regrole and relkind <> 'i'`,
    'alter table lamp owner to kannuki_admin',
  ),
  rule(
    'every policy is for one command, with USING and WITH CHECK where the command takes them',
    `select table_name || '.' || name as breach from policies
     where command = '*' or (command in ('r', 'd', 'w') and shown = '') or (command in ('a', 'w') and checked = '')`,
    'create policy loose on lamp for update to kannuki_app using (true)',
  ),
  rule(
    'no policy is for everybody',
    `select polrelid::regclass || '.' || polname as breach from pg_policy where 0 = any (polroles)`,
    'create policy loose on lamp for select using (false)',
  ),
  rule(
    'the tenant test stands in every permissive policy of app and gateway',
    `select table_name || '.' || name as breach from policies
     where is_permissive and role in ('kannuki_app', 'kannuki_gateway') and comment not like 'global: %'
       and ((command <> 'a' and shown !~ '${claims}') or (command in ('a', 'w') and checked !~ '${claims}'))`,
    `create policy loose on lamp for select to kannuki_app using (label is null)`,
  ),
  rule(
    'the worker writes only where the tenant test holds; it may look, and clear what has expired, across tenants',
    `select table_name || '.' || name as breach from policies
     where is_permissive and role = 'kannuki_worker' and comment not like 'global: %'
       and ((command in ('a', 'w') and checked !~ '${claims}') or (command = 'd' and shown !~ '${claims}|now\\(\\)'))`,
    `create policy loose on lamp for update to kannuki_worker using (true) with check (true)`,
  ),
  rule(
    'claims in policies are read once per statement',
    `select table_name || '.' || name as breach from policies, lateral (values (shown), (checked)) part (expression)
     where regexp_replace(expression, '\\( SELECT \\(?${claims}', '', 'g') ~ 'app\\.(facility_ids|facilities_as|user_id|gateway_id|organization_id|actor|claim)\\('`,
    `create policy loose on lamp for select to kannuki_app using (facility_id = any (app.facility_ids()))`,
  ),
  rule(
    'a role has exactly the rights for which it has a policy',
    `select t.name || ' ' || s.name || ' ' || c.word as breach from tables t, speakers s, commands c
     where case when c.word = 'DELETE' then has_table_privilege(s.oid, t.oid, c.word)
       else has_any_column_privilege(s.oid, t.oid, c.word) end is distinct from exists (
         select from policies p where p.table_oid = t.oid and p.role = s.name and p.command = c.letter and p.is_permissive)
       and t.name <> 'schema_migration'`,
    'grant delete on lamp to kannuki_gateway',
  ),
  rule(
    'nobody but the owner may truncate, reference or put triggers on a table',
    `select t.name || ' ' || r.rolname || ' ' || right_name as breach
     from tables t, pg_roles r, unnest(array['TRUNCATE', 'REFERENCES', 'TRIGGER']) right_name
     where r.rolname like 'kannuki%' and not r.rolsuper and r.rolname <> 'kannuki_owner'
       and has_table_privilege(r.oid, t.oid, right_name)`,
    'grant truncate on lamp to kannuki_worker',
  ),
  rule(
    'PUBLIC has no right to anything',
    `select c.name || ' ' || a.privilege_type as breach from ours c join pg_class p on p.oid = c.oid,
       aclexplode(p.relacl) a where a.grantee = 0
     union all select f.name from functions f, aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) a where a.grantee = 0
     union all select n.nspname || ' ' || a.privilege_type from pg_namespace n, aclexplode(n.nspacl) a
       where a.grantee = 0 and n.nspname not in ('pg_catalog', 'information_schema')
     union all select d.datname || ' ' || a.privilege_type
       from pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
       where a.grantee = 0 and d.datname = current_database()`,
    'grant temporary on database template1 to public; grant select on lamp to public',
  ),
  rule(
    'no role that speaks is superuser, bypasses row security, owns or creates anything, or may become another',
    `select rolname::text || ' has attributes' as breach from pg_roles
     where rolname like 'kannuki%' and rolname <> 'kannuki_admin'
       and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or (rolbypassrls and rolname <> 'kannuki_backup'))
     union all select s.name || ' owns ' || c.name from speakers s join ours c on c.relowner = s.oid
     union all select s.name || ' owns ' || f.name from speakers s join functions f on f.proowner = s.oid
     union all select s.name || ' creates in ' || n.nspname from speakers s, pg_namespace n
       where has_schema_privilege(s.oid, n.oid, 'CREATE')
     union all select s.name || ' makes temporary tables' from speakers s
       where has_database_privilege(s.oid, current_database(), 'TEMPORARY')
     union all select m.member::regrole || ' is member of ' || m.roleid::regrole from pg_auth_members m
       where m.member::regrole::text like 'kannuki%' and (m.member, m.roleid) not in (
         select r.oid, g.oid from pg_roles r join pg_roles g on r.rolname = g.rolname || '_login'
         union all select 'kannuki_owner'::regrole, g.oid from pg_roles g where g.rolname in ('kannuki_ledger', 'kannuki_lookup'))`,
    'grant create on schema public to kannuki_app',
  ),
  rule(
    'no role but the logins can log in',
    `select rolname::text as breach from pg_roles where rolname like 'kannuki%' and rolcanlogin
       and rolname <> 'kannuki_admin' and rolname not like '%\\_login'`,
    'alter role kannuki_worker login',
  ),
  rule(
    'the backup role reads everything and writes nothing',
    `select t.name || ' ' || c.word as breach from tables t, commands c
     where has_table_privilege('kannuki_backup', t.oid, c.word) <> (c.word = 'SELECT')`,
    'revoke select on lamp from kannuki_backup',
  ),
  rule(
    'a table with deleted_at hides deleted rows by restrictive policies',
    `select c.table_name || ' ' || s.name || ' ' || wanted as breach
     from columns c, speakers s, unnest(array['r', 'w']) wanted
     where c.name = 'deleted_at' and not exists (
       select from policies p where p.table_oid = c.oid and p.role = s.name and p.command = wanted
         and not p.is_permissive and p.shown like '%deleted_at IS NULL%')`,
    'drop policy lamp_not_deleted_select on lamp',
  ),
  rule(
    'every table is a tenant’s, or says what it is',
    `select t.name as breach from tables t where comment not similar to '(global|tenant): %'
       and not exists (select from columns c where c.oid = t.oid and c.name = 'facility_id')`,
    `create table stray (id text primary key)`,
  ),
  rule(
    'unique and exclusion keys of tenants’ tables begin with the tenant',
    `select t.name || '.' || i.indexrelid::regclass as breach
     from tables t join pg_index i on i.indrelid = t.oid join columns c on c.oid = t.oid and c.name = 'facility_id'
     where (i.indisunique or i.indisexclusion) and i.indkey[0] <> c.attnum`,
    'create unique index loose on lamp (label)',
  ),
  rule(
    'foreign keys between tenants’ tables carry the tenant, and none cascades',
    `select k.conrelid::regclass || '.' || k.conname as breach from pg_constraint k
     join tables t on t.oid = k.conrelid
     where k.contype = 'f' and (k.confdeltype not in ('a', 'r') or k.confupdtype not in ('a', 'r') or (
       exists (select from columns c where c.oid = k.confrelid and c.name = 'facility_id')
       and not exists (
         select from generate_subscripts(k.conkey, 1) place
         join columns here on here.oid = k.conrelid and here.attnum = k.conkey[place] and here.name = 'facility_id'
         join columns there on there.oid = k.confrelid and there.attnum = k.confkey[place] and there.name = 'facility_id')))`,
    'create table wick (facility_id text, lamp_facility text, lamp text, foreign key (lamp_facility, lamp) references lamp)',
  ),
  rule(
    'every table refuses TRUNCATE, and writes by its owner',
    `select t.name || ' ' || wanted as breach from tables t, unnest(array['refuse_truncate', 'refuse_owner']) wanted
     where t.name <> 'schema_migration' and not exists (
       select from pg_trigger g where g.tgrelid = t.oid and g.tgname = wanted and g.tgenabled = 'O')`,
    'alter table lamp disable trigger refuse_owner',
  ),
  rule(
    'a tenant’s row keeps its tenant and its id',
    `select c.table_name as breach from columns c where c.name = 'facility_id' and not exists (
       select from pg_trigger g where g.tgrelid = c.oid and g.tgfoid = 'app.keep_key'::regproc and g.tgenabled = 'O')`,
    'drop trigger keep_key on lamp',
  ),
  rule(
    'a table nobody may delete from refuses DELETE',
    `select t.name as breach from tables t where comment not like 'global: %'
       and exists (select from columns c where c.oid = t.oid and c.name = 'facility_id')
       and not exists (select from policies p where p.table_oid = t.oid and p.command = 'd' and p.role is not null)
       and not exists (select from pg_trigger g where g.tgrelid = t.oid and g.tgenabled = 'O'
         and g.tgname in ('refuse_delete', 'append_only'))`,
    'drop trigger refuse_delete on lamp',
  ),
  rule(
    'views run as whoever asks, and none is materialized',
    `select name as breach from ours where relkind = 'm'
       or relkind = 'v' and not coalesce(reloptions @> array['security_invoker=true'], false)`,
    'create view glow as select id from lamp; alter view glow owner to kannuki_owner',
  ),
  rule(
    'a function that runs as another role is pinned to its search_path, and that role is no owner',
    `select name as breach from functions where prosecdef and (
       coalesce(proconfig, '{}') <> array['search_path=pg_catalog, public, pg_temp']
       or proowner not in ('kannuki_ledger'::regrole, 'kannuki_lookup'::regrole))`,
    `create function app.glow() returns int language sql security definer as 'select 1';
     revoke all on function app.glow() from public; alter function app.glow() owner to kannuki_lookup`,
  ),
  rule(
    'a function that runs as another role and is told a facility tests it against the claims',
    `select f.name as breach from functions f, unnest(f.arguments) argument
     where f.prosecdef and argument ~ 'facility' and f.prosrc !~ 'app\\.(facility_ids|facilities_as)\\(' and exists (
       select from speakers s where has_function_privilege(s.oid, f.oid, 'EXECUTE'))
       and f.prosrc !~ 'returns table'
       and argument = any (f.arguments[1:(select pronargs from pg_proc where oid = f.oid)])`,
    `set local role kannuki_owner;
     create function app.glow(facility text) returns bigint language sql as 'select count(*) from public.lamp where facility_id = facility';
     select build.definer('app.glow(text)', 'kannuki_lookup', 'app'); reset role`,
  ),
  rule(
    'nobody that speaks may call what builds tables',
    `select s.name || ' ' || f.name as breach from speakers s, functions f
     where f.name like 'build.%' and has_function_privilege(s.oid, f.oid, 'EXECUTE')`,
    'grant execute on function build.protect(regclass) to kannuki_app',
  ),
];
