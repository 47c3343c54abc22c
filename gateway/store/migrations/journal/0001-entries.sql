-- The history, in order. `place` is epoch * 2^40 + seq, so that order and epoch are one key and no second index is needed.
CREATE TABLE entry (
  place INTEGER PRIMARY KEY,
  boot_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  clock_state TEXT NOT NULL,
  kind TEXT NOT NULL,
  door_id TEXT,
  request_id TEXT,
  body TEXT NOT NULL,
  personal_hash BLOB,
  prev_hash BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT;

-- Values about persons: erasable, since the chain holds only their salted hash.
CREATE TABLE entry_private (
  place INTEGER PRIMARY KEY,
  salt BLOB NOT NULL,
  value TEXT NOT NULL
) STRICT;

-- State that must not disagree with the history; each row carries its own code.
CREATE TABLE gateway_state (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  code BLOB NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

-- One row, replaced with every commit: how far the history goes and what the state adds up to, with a code under a
-- key that is not in this file.
CREATE TABLE journal_seal (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  tip INTEGER NOT NULL,
  tip_hash BLOB NOT NULL,
  state_sum BLOB NOT NULL,
  code BLOB NOT NULL
) STRICT;

-- One row: where this file begins and what may be deleted from it (nothing above `boundary`).
-- `acked` is the last place that the cloud has answered for.
CREATE TABLE extent (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  first_epoch INTEGER NOT NULL,
  first_key BLOB NOT NULL,
  key_print BLOB NOT NULL,
  boundary INTEGER NOT NULL,
  boundary_hash BLOB NOT NULL,
  acked INTEGER NOT NULL
) STRICT;

-- Signed heads. Never pruned: each names the key of the next, and together they lead back to the first key.
CREATE TABLE head (
  place INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  hash BLOB NOT NULL,
  next_key BLOB NOT NULL,
  signature BLOB NOT NULL
) STRICT;

-- One row: the private key of the next head, sealed under the master key. Replaced whenever a head is signed.
CREATE TABLE head_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  public_key BLOB NOT NULL,
  sealed BLOB NOT NULL
) STRICT;

CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry
BEGIN
  SELECT RAISE(ABORT, 'an entry is never changed');
END;

CREATE TRIGGER entry_is_kept BEFORE DELETE ON entry
WHEN old.place > coalesce((SELECT boundary FROM extent WHERE id = 1), 0)
BEGIN
  SELECT RAISE(ABORT, 'an entry above the boundary is kept');
END;

CREATE TRIGGER head_is_never_changed BEFORE UPDATE ON head
BEGIN
  SELECT RAISE(ABORT, 'a head is never changed');
END;

CREATE TRIGGER head_is_kept BEFORE DELETE ON head
BEGIN
  SELECT RAISE(ABORT, 'a head is kept');
END;

CREATE TRIGGER boundary_only_advances BEFORE UPDATE ON extent
WHEN new.boundary < old.boundary OR new.acked < old.acked
BEGIN
  SELECT RAISE(ABORT, 'the boundary only advances');
END;
