-- One table per kind of row. Columns hold what the row holds; `mac` is the keyed code over all of them, made on apply.

-- One row: what this file stands for. `change` counts applied transactions; `root` is the code over all buckets.
CREATE TABLE head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL,
  cursor INTEGER NOT NULL,
  change INTEGER NOT NULL,
  digest BLOB NOT NULL,
  root BLOB NOT NULL,
  mac BLOB NOT NULL
) STRICT;

-- Sums over the keyed hashes of the rows in a bucket: a row that is gone, or older than it was, shows here.
CREATE TABLE bucket (
  slot INTEGER PRIMARY KEY,
  sum BLOB NOT NULL
) STRICT;

-- Sums over the plain hashes of the rows of a kind: what is compared with the cloud.
CREATE TABLE kind_digest (
  kind TEXT PRIMARY KEY,
  sum BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE facility (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  zone TEXT NOT NULL,
  pin_salt TEXT NOT NULL,
  version INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE schedule (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  weekly TEXT NOT NULL,
  on_holidays TEXT NOT NULL,
  version INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE holiday (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  date TEXT NOT NULL,
  version INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE door (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  wiring TEXT NOT NULL,
  timing TEXT NOT NULL,
  rules TEXT NOT NULL,
  version INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE reader (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  door TEXT NOT NULL,
  device TEXT NOT NULL,
  head INTEGER NOT NULL,
  from_area TEXT,
  to_area TEXT,
  uid_order TEXT NOT NULL,
  card_formats TEXT NOT NULL,
  version INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE holder (
  bucket INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  mac BLOB NOT NULL,
  PRIMARY KEY (bucket, id)
) STRICT, WITHOUT ROWID;

-- Found by its lookup value, whose first ten bits are its bucket: a bucket lies together.
CREATE TABLE credential (
  lookup BLOB PRIMARY KEY,
  id TEXT NOT NULL,
  holder TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  valid_from INTEGER,
  valid_until INTEGER,
  lease_ms INTEGER,
  uses_max INTEGER,
  flags INTEGER NOT NULL,
  version INTEGER NOT NULL,
  mac BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX credential_id ON credential (id);

-- `grant` is a word of SQL's own.
CREATE TABLE door_grant (
  bucket INTEGER NOT NULL,
  credential TEXT NOT NULL,
  door TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  schedule TEXT,
  valid_from INTEGER,
  valid_until INTEGER,
  version INTEGER NOT NULL,
  mac BLOB NOT NULL,
  PRIMARY KEY (bucket, credential, door, grant_id)
) STRICT, WITHOUT ROWID;
