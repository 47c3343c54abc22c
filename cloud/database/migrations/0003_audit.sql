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
  detail jsonb not null check (jsonb_typeof(detail) = 'object'),
  primary key (facility_id, id)
);
create index audit_event_entity on audit_event (facility_id, entity_id, id);

create table audit_seal (
  facility_id text not null,
  -- From 1, without gaps.
  seq bigint not null check (seq > 0),
  event_id bigint not null,
  sealed_at timestamptz not null,
  -- The hash before it; 64 zeros before the first.
  previous text not null check (previous ~ '^[0-9a-f]{64}$'),
  -- The exact text that is hashed: the event, and when it was sealed.
  content text not null,
  -- SHA-256 of previous, line feed, content in UTF-8.
  hash text not null check (hash ~ '^[0-9a-f]{64}$'),
  primary key (facility_id, seq),
  unique (facility_id, event_id),
  foreign key (facility_id, event_id) references audit_event (facility_id, id)
);

create table audit_head (
  facility_id text primary key,
  seq bigint not null,
  hash text not null
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

-- One text for one instant, whatever the session's time zone.
create function app.instant_text(instant timestamptz) returns text
  language sql stable
  return to_char(instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

-- What is hashed of an event. (A record's text form differs between versions; that of jsonb does not.)
create function app.audit_content(event audit_event, seq bigint, sealed_at timestamptz) returns text
  language sql stable
  return jsonb_build_object(
    'facility', event.facility_id, 'seq', seq, 'event', event.id, 'sealed_at', app.instant_text(sealed_at),
    'at', app.instant_text(event.at), 'verb', event.verb, 'actor', event.actor, 'action', event.action,
    'entity', event.entity_id, 'detail', event.detail)::text;
grant execute on function app.instant_text(timestamptz), app.audit_content(audit_event, bigint, timestamptz)
  to kannuki_ledger, kannuki_app, kannuki_worker, kannuki_backup;

-- Deferred to the commit, so that a facility's chain is locked for that moment only, in whatever order verbs ran.
create function app.seal_audit() returns trigger
  language plpgsql as $$
declare
  head public.audit_head%rowtype;
  sealed_at timestamptz;
  content text;
  next_hash text;
begin
  insert into public.audit_head (facility_id, seq, hash)
  values (new.facility_id, 0, repeat('0', 64)) on conflict do nothing;
  select * into strict head from public.audit_head where facility_id = new.facility_id for update;
  sealed_at := clock_timestamp();
  content := app.audit_content(new, head.seq + 1, sealed_at);
  next_hash := encode(sha256(convert_to(head.hash || E'\n' || content, 'UTF8')), 'hex');
  insert into public.audit_seal (facility_id, seq, event_id, sealed_at, previous, content, hash)
  values (new.facility_id, head.seq + 1, new.id, sealed_at, head.hash, content, next_hash);
  update public.audit_head set seq = head.seq + 1, hash = next_hash where facility_id = new.facility_id;
  return null;
end
$$;
select build.definer('app.seal_audit()', 'kannuki_ledger');
create constraint trigger seal_audit after insert on audit_event deferrable initially deferred
  for each row execute function app.seal_audit();
