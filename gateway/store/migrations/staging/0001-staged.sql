-- A snapshot on its way in, kept so that a crash does not begin it anew. Nothing of it is in force.

-- One row: which snapshot, as its last signed chunk says; `next` is the chunk that comes next.
CREATE TABLE progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  chunk TEXT NOT NULL,
  lookup_key TEXT,
  next INTEGER NOT NULL,
  is_whole INTEGER NOT NULL CHECK (is_whole IN (0, 1))
) STRICT;

-- In the order in which the replica's tables lie: `kind` as rows are kinds, `place` the bucket, `key` the identity.
CREATE TABLE staged_row (
  kind INTEGER NOT NULL,
  place INTEGER NOT NULL,
  key TEXT NOT NULL,
  row TEXT NOT NULL,
  mac BLOB NOT NULL,
  PRIMARY KEY (kind, place, key)
) STRICT, WITHOUT ROWID;
