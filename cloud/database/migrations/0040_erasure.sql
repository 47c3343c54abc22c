-- A holder's name in what is still kept of the feed's history can be taken out of it; nothing else of that history changes.
select build.policy('feed_change', 'kannuki_app', 'update',
  'facility_id = any ((select app.facility_ids())::text[]) and kind = ''holder''');

-- Snapshots hold names too. They are made anew when they are asked for.
select build.policy(name::regclass, 'kannuki_app', command, 'facility_id = any ((select app.facility_ids())::text[])')
  from unnest(array['feed_snapshot', 'feed_snapshot_chunk']) name, unnest(array['select', 'delete']) command;
