-- One row: what the rows below add up to, with a code under a key that is not in this file.
CREATE TABLE site_seal (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  key_print BLOB NOT NULL,
  row_sum BLOB NOT NULL,
  code BLOB NOT NULL
) STRICT;

-- Keys born or received here, sealed under the master key with their name as associated data.
CREATE TABLE sealed_key (
  name TEXT PRIMARY KEY,
  sealed BLOB NOT NULL,
  code BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What was learned of each device when it was enrolled: another one at its address must alarm.
-- `refuses_default_key` is 1 from the first key of its own on: the key that everybody knows is refused from then on.
CREATE TABLE device (
  id TEXT PRIMARY KEY,
  vendor TEXT NOT NULL,
  model TEXT NOT NULL,
  serial TEXT NOT NULL,
  firmware TEXT NOT NULL,
  enrolled_at INTEGER NOT NULL,
  refuses_default_key INTEGER NOT NULL CHECK (refuses_default_key IN (0, 1)),
  code BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Once set, for ever, whatever is learned anew.
CREATE TRIGGER default_key_stays_refused BEFORE UPDATE ON device
WHEN old.refuses_default_key = 1 AND new.refuses_default_key = 0
BEGIN
  SELECT RAISE(ABORT, 'the default key stays refused');
END;

-- Each journal this site has begun: a journal that is gone is noticed, and its epoch is not used again.
CREATE TABLE journal_epoch (
  epoch INTEGER PRIMARY KEY,
  first_key BLOB NOT NULL,
  begun_at INTEGER NOT NULL,
  code BLOB NOT NULL
) STRICT;
