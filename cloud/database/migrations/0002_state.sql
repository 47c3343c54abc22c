-- Machines: which transitions there are, the guard that refuses all others, and the log of those that happened.
create table state_machine (
  machine text primary key,
  initial_state text not null
);
create table state_transition_rule (
  machine text not null references state_machine (machine),
  event text not null,
  from_state text not null,
  to_state text not null,
  primary key (machine, event, from_state, to_state)
);
select build.global_table('state_machine');
select build.global_table('state_transition_rule');

create table state_transition_log (
  facility_id text not null,
  id bigint generated always as identity,
  machine text not null,
  entity_id text not null,
  event text not null,
  from_state text,
  to_state text not null,
  verb text not null,
  actor text,
  reason text,
  at timestamptz not null default now(),
  primary key (facility_id, id)
);
create index state_transition_log_entity on state_transition_log (facility_id, machine, entity_id, id);
select build.tenant_table('state_transition_log', app => 'select', worker => 'select');
select build.policy('state_transition_log', 'kannuki_ledger', 'insert', 'true');
select build.append_only('state_transition_log');

-- Runs as whoever writes: a machine-owned column changes only inside a verb, along a rule, with the next version.
create function app.guard_state() returns trigger
  language plpgsql as $$
declare
  guarded text := tg_argv[0];
  state_column text := tg_argv[1];
  new_state text := to_jsonb(new) ->> state_column;
  old_state text := case when tg_op = 'UPDATE' then to_jsonb(old) ->> state_column end;
begin
  if tg_op = 'UPDATE' and new_state is not distinct from old_state then return new; end if;
  if app.claim('verb') is null then
    raise exception using errcode = 'KN010',
      message = format('%s.%s is changed only by a verb', tg_table_name, state_column);
  end if;
  if tg_op = 'INSERT' then
    if new_state is distinct from (select initial_state from public.state_machine where machine = guarded)
      and not (current_user = 'kannuki_migrator' and app.claim('verb') = 'import') then
      raise exception using errcode = 'KN012',
        message = format('%s begins in its initial state, not in %s', guarded, coalesce(new_state, 'null'));
    end if;
    return new;
  end if;
  if not exists (
    select from public.state_transition_rule rule
    where rule.machine = guarded and rule.event = app.claim('event')
      and rule.from_state = old_state and rule.to_state = new_state
  ) then
    raise exception using errcode = 'KN011',
      message = format('%s has no transition %s from %s to %s', guarded, coalesce(app.claim('event'), '(no event)'),
        old_state, coalesce(new_state, 'null'));
  end if;
  if (to_jsonb(new) ->> 'version')::int is distinct from (to_jsonb(old) ->> 'version')::int + 1 then
    raise exception using errcode = 'KN015', message = format('a transition of %s raises its version by one', guarded);
  end if;
  return new;
end
$$;

-- Runs as the ledger, which alone may write the log.
create function app.log_state() returns trigger
  language plpgsql as $$
declare
  state_column text := tg_argv[1];
  row_now jsonb := to_jsonb(new);
  old_state text := case when tg_op = 'UPDATE' then to_jsonb(old) ->> state_column end;
  new_state text := row_now ->> state_column;
begin
  if tg_op = 'UPDATE' and new_state is not distinct from old_state then return null; end if;
  insert into public.state_transition_log (facility_id, machine, entity_id, event, from_state, to_state, verb, actor, reason)
  values (
    row_now ->> 'facility_id', tg_argv[0], row_now ->> 'id',
    case
      when tg_op = 'UPDATE' then app.claim('event')
      when new_state = (select initial_state from public.state_machine where machine = tg_argv[0]) then 'created'
      else 'imported'
    end,
    old_state, new_state, app.claim('verb'), app.claim('actor'), app.claim('reason'));
  return null;
end
$$;
select build.definer('app.log_state()', 'kannuki_ledger');

-- Puts a table's state column under a declared machine.
create function build.machine(target regclass, machine text, state_column text default 'status') returns void
  language plpgsql as $$
begin
  -- The guard comes after every other BEFORE trigger (they run by name), so that none changes the state behind it.
  execute format('create trigger zz_guard_state before insert or update on %s for each row
    execute function app.guard_state(%L, %L)', target, machine, state_column);
  execute format('create trigger log_state after insert or update on %s for each row
    execute function app.log_state(%L, %L)', target, machine, state_column);
end
$$;
