-- Times are milliseconds UTC from Go; file times nanoseconds. Counters in kbs
-- are kept in the transactions that change what they count.

CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE kbs (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  name    TEXT NOT NULL UNIQUE,
  root    TEXT NOT NULL,
  dir     TEXT NOT NULL,
  mounted INTEGER NOT NULL,
  paused  INTEGER NOT NULL DEFAULT 0,
  -- documents with a current revision, their active chunks, terms and file bytes
  documents INTEGER NOT NULL DEFAULT 0,
  chunks    INTEGER NOT NULL DEFAULT 0,
  terms     INTEGER NOT NULL DEFAULT 0,
  bytes     INTEGER NOT NULL DEFAULT 0,
  -- documents by state
  indexed  INTEGER NOT NULL DEFAULT 0,
  pending  INTEGER NOT NULL DEFAULT 0,
  failed   INTEGER NOT NULL DEFAULT 0,
  excluded INTEGER NOT NULL DEFAULT 0,
  -- jobs by state
  jobs_pending    INTEGER NOT NULL DEFAULT 0,
  jobs_processing INTEGER NOT NULL DEFAULT 0,
  jobs_failed     INTEGER NOT NULL DEFAULT 0,
  -- revisions that are not current, and the bytes of their texts
  old_revisions INTEGER NOT NULL DEFAULT 0,
  old_bytes     INTEGER NOT NULL DEFAULT 0,
  indexed_ms    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- state: 0 deleted (kept for retention), 1 indexed, 2 pending, 3 failed, 4 excluded.
-- path is the bytes of the file system; it need not be UTF-8.
CREATE TABLE documents (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  kb_id       INTEGER NOT NULL,
  path        TEXT NOT NULL,
  parent_id   INTEGER,
  state       INTEGER NOT NULL,
  code        TEXT NOT NULL DEFAULT '',
  reason      TEXT NOT NULL DEFAULT '',
  size        INTEGER NOT NULL DEFAULT 0,
  mtime_ns    INTEGER NOT NULL DEFAULT 0,
  ctime_ns    INTEGER NOT NULL DEFAULT 0,
  inode       INTEGER NOT NULL DEFAULT 0,
  hash        BLOB,
  skey_id     INTEGER NOT NULL DEFAULT 0,
  revision_id INTEGER,
  type        TEXT NOT NULL DEFAULT '',
  status      TEXT NOT NULL DEFAULT '',
  canon       INTEGER NOT NULL DEFAULT 0,
  chunks      INTEGER NOT NULL DEFAULT 0,
  chunks_hash BLOB,
  bytes       INTEGER NOT NULL DEFAULT 0,
  indexed_ms  INTEGER NOT NULL DEFAULT 0,
  deleted_ms  INTEGER
) STRICT;
CREATE UNIQUE INDEX documents_path ON documents (kb_id, path);
CREATE INDEX documents_parent ON documents (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX documents_deleted ON documents (deleted_ms) WHERE deleted_ms IS NOT NULL;

-- Staleness keys; there are as many as formats and versions of the program.
CREATE TABLE skeys (
  id   INTEGER PRIMARY KEY,
  skey TEXT NOT NULL UNIQUE
) STRICT;

-- What extraction made of some bytes. variant rises when a forced
-- re-extraction gave something else, since a revision's text never changes.
-- hash_head is the first 8 bytes of hash, for a small index.
CREATE TABLE contents (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  hash       BLOB NOT NULL,
  hash_head  INTEGER NOT NULL,
  skey_id    INTEGER NOT NULL,
  variant    INTEGER NOT NULL,
  digest     BLOB NOT NULL,
  format     TEXT NOT NULL,
  media_type TEXT NOT NULL,
  meta       TEXT NOT NULL,
  chars      INTEGER NOT NULL,
  bytes      INTEGER NOT NULL,
  parts      INTEGER NOT NULL
) STRICT;
CREATE INDEX contents_hash ON contents (hash_head);

-- The text of a content in segments; id = content << 16 | number.
CREATE TABLE texts (
  id         INTEGER PRIMARY KEY,
  start      INTEGER NOT NULL,
  char_start INTEGER NOT NULL,
  zstd       BLOB NOT NULL
) STRICT;

-- first_seq: chunk ids of a revision are (first_seq + index) << 5 | length step.
CREATE TABLE revisions (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  uid         BLOB NOT NULL,
  document_id INTEGER NOT NULL,
  content_id  INTEGER NOT NULL,
  title       TEXT NOT NULL,
  first_seq   INTEGER NOT NULL,
  chunks      INTEGER NOT NULL,
  terms       INTEGER NOT NULL,
  created_ms  INTEGER NOT NULL,
  retired_ms  INTEGER
) STRICT;
CREATE INDEX revisions_document ON revisions (document_id);
CREATE INDEX revisions_content ON revisions (content_id);
CREATE INDEX revisions_old ON revisions (document_id, retired_ms) WHERE retired_ms IS NOT NULL;

-- place: the packed position (see place.go). Rows of old revisions stay, not
-- active, until retention drops the revision. Active rows = rows of fts.
CREATE TABLE chunks (
  id          INTEGER PRIMARY KEY,
  document_id INTEGER NOT NULL,
  revision_id INTEGER NOT NULL,
  active      INTEGER NOT NULL,
  hash        BLOB NOT NULL,
  place       BLOB NOT NULL,
  headings    TEXT,
  prefix      TEXT
) STRICT;

-- state: 1 pending, 2 processing, 3 failed (parked).
CREATE TABLE jobs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  kb_id       INTEGER NOT NULL,
  path        TEXT NOT NULL,
  op          INTEGER NOT NULL DEFAULT 0,
  reason      TEXT NOT NULL,
  state       INTEGER NOT NULL,
  priority    INTEGER NOT NULL,
  attempts    INTEGER NOT NULL DEFAULT 0,
  rerun       INTEGER NOT NULL DEFAULT 0,
  claim       INTEGER NOT NULL DEFAULT 0,
  size        INTEGER NOT NULL,
  mtime_ns    INTEGER NOT NULL,
  ctime_ns    INTEGER NOT NULL,
  inode       INTEGER NOT NULL,
  hash        BLOB,
  stage       TEXT NOT NULL DEFAULT '',
  class       TEXT NOT NULL DEFAULT '',
  code        TEXT NOT NULL DEFAULT '',
  message     TEXT NOT NULL DEFAULT '',
  hint        TEXT NOT NULL DEFAULT '',
  next_try_ms INTEGER NOT NULL DEFAULT 0,
  claimed_ms  INTEGER NOT NULL DEFAULT 0,
  created_ms  INTEGER NOT NULL,
  updated_ms  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX jobs_path ON jobs (kb_id, path, op);
CREATE INDEX jobs_interrupted ON jobs (state) WHERE code = 'interrupted';
CREATE INDEX jobs_ready ON jobs (kb_id, priority DESC, mtime_ns DESC, id) WHERE state = 1 AND next_try_ms = 0;
CREATE INDEX jobs_waiting ON jobs (next_try_ms) WHERE state = 1 AND next_try_ms > 0;
CREATE INDEX jobs_processing ON jobs (claimed_ms) WHERE state = 2;
CREATE INDEX jobs_failed ON jobs (id) WHERE state = 3;

-- body comes first, since the first column costs two bytes less for every term
-- of every chunk. Terms come ready made and separated by spaces, so every printable ASCII
-- character is part of a term.
CREATE VIRTUAL TABLE fts USING fts5 (
  body, title, headings, scope,
  content = '', contentless_delete = 1, detail = full,
  tokenize = "ascii tokenchars '!""#$%&''''()*+,-./:;<=>?@[\]^_`{|}~'"
);
-- Merging is left to Maintain; only many small segments at once force one.
INSERT INTO fts (fts, rank) VALUES ('automerge', 0);
INSERT INTO fts (fts, rank) VALUES ('crisismerge', 16);
INSERT INTO fts (fts, rank) VALUES ('usermerge', 4);
INSERT INTO fts (fts, rank) VALUES ('hashsize', 16777216);
