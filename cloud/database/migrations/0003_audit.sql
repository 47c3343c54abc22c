-- What was done, by whom: one chain of hashes per facility, sealed when the transaction commits.
create table audit_event (
  facility_id text not null,
  id bigint generated always as identity,
  at timestamptz not null default now(),
  verb text not null,
  actor text not null,
  action text not null,
  entity_id text not null,
  -- Ids, states and counts, never personal data: the chain commits to this for good.
  detail jsonb not null,
  primary key (facility_id, id)
);
create table audit_seal (
  facility_id text not null,
  sequence bigint not null check (sequence > 0),
  event_id bigint not null,
  sealed_at timestamptz not null,
  -- The exact text that is hashed: the event and when it was sealed.
  content text not null,
  -- SHA-256 over the hash before it (32 zero bytes before the first) and the UTF-8 bytes of `content`.
  hash bytea not null check (octet_length(hash) = 32),
  primary key (facility_id, sequence),
  unique (facility_id, event_id),
  foreign key (facility_id, event_id) references audit_event (facility_id, id)
);
create table audit_head (
  facility_id text primary key,
  sequence bigint not null,
  hash bytea not null
);
select build.tenant_table('audit_event', app => 'select', worker => 'select');
select build.tenant_table('audit_seal', app => 'select', worker => 'select');
select build.tenant_table('audit_head', app => 'select', worker => 'select');
select build.append_only('audit_event');
select build.append_only('audit_seal');
select build.policy('audit_event', 'kannuki_ledger', command, 'true') from unnest(array['select', 'insert']) command;
select build.policy('audit_seal', 'kannuki_ledger', command, 'true') from unnest(array['select', 'insert']) command;
select build.policy('audit_head', 'kannuki_ledger', command, 'true') from unnest(array['select', 'insert', 'update']) command;

-- Writes one event in the name of the transaction's verb and actor. The seal follows at commit.
create function app.audit(facility text, action text, entity text, detail jsonb) returns void
  language plpgsql as $$
begin
  if facility is null or not (facility = any (app.facility_ids())) then
    raise exception using errcode = 'KN016', message = 'an event is audited only in a claimed facility';
  end if;
  if app.claim('verb') is null or app.claim('actor') is null then
    raise exception using errcode = 'KN010', message = 'an event is audited only by a verb with an actor';
  end if;
  insert into public.audit_event (facility_id, verb, actor, action, entity_id, detail)
  values (facility, app.claim('verb'), app.claim('actor'), action, entity, coalesce(detail, '{}'));
end
$$;
select build.definer('app.audit(text, text, text, jsonb)', 'kannuki_ledger', 'app,worker,gateway,migrator');

-- Deferred to the commit, so that a facility's chain is locked for that moment only and in no order of verbs.
create function app.seal_audit() returns trigger
  language plpgsql as $$
declare
  head public.audit_head%rowtype;
  sealed timestamptz := clock_timestamp();
  sealed_content text;
begin
  insert into public.audit_head (facility_id, sequence, hash)
  values (new.facility_id, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing;
  select * into strict head from public.audit_head where facility_id = new.facility_id for update;
  sealed_content := jsonb_build_object(
    'facility', new.facility_id, 'sequence', head.sequence + 1, 'event', new.id, 'sealed_at', app.instant_text(sealed),
    'at', app.instant_text(new.at), 'verb', new.verb, 'actor', new.actor, 'action', new.action,
    'entity', new.entity_id, 'detail', new.detail)::text;
  head.hash := sha256(head.hash || convert_to(sealed_content, 'UTF8'));
  insert into public.audit_seal (facility_id, sequence, event_id, sealed_at, content, hash)
  values (new.facility_id, head.sequence + 1, new.id, sealed, sealed_content, head.hash);
  update public.audit_head set sequence = head.sequence + 1, hash = head.hash where facility_id = new.facility_id;
  return null;
end
$$;

-- One text for one instant, whatever the session's time zone.
create function app.instant_text(instant timestamptz) returns text
  language sql stable
  return to_char(instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
grant execute on function app.instant_text(timestamptz) to kannuki_ledger, kannuki_app, kannuki_worker, kannuki_gateway;

select build.definer('app.seal_audit()', 'kannuki_ledger');
create constraint trigger seal_audit after insert on audit_event deferrable initially deferred
  for each row execute function app.seal_audit();
