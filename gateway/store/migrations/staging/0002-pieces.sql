-- What was signed first is kept once; rows lie in pieces, each of one chunk and one part of a table.
DROP TABLE staged_row;
DROP TABLE progress;

-- One row: the first chunk as it was signed, and the lookup key it carried.
CREATE TABLE beginning (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  lookup_key TEXT,
  chunk TEXT NOT NULL
) STRICT;

-- One row: `next` is the chunk that comes next.
CREATE TABLE progress (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  next INTEGER NOT NULL,
  is_whole INTEGER NOT NULL CHECK (is_whole IN (0, 1))
) STRICT;

-- `part` numbers stretches of the replica's tables in their order; `rows` are columns as JSON; `mac` is over all of it.
CREATE TABLE piece (
  part INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  rows TEXT NOT NULL,
  mac BLOB NOT NULL,
  PRIMARY KEY (part, chunk)
) STRICT, WITHOUT ROWID;
