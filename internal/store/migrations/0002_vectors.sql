-- A generation is the vectors of one model. One serves searches; the target is
-- the one that new texts are embedded for. Others are kept for a while.
CREATE TABLE generations (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  model      TEXT NOT NULL UNIQUE,
  name       TEXT NOT NULL,
  source     TEXT NOT NULL DEFAULT '',
  dim        INTEGER NOT NULL,
  serving    INTEGER NOT NULL DEFAULT 0,
  target     INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  used_ms    INTEGER NOT NULL
) STRICT;

-- One vector of one text. hash: the first 16 bytes of the SHA-256 of what was
-- embedded; refs: how many windows of chunks are this text; code: a 32-bit
-- scale and a byte for each dimension.
CREATE TABLE vectors (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  generation INTEGER NOT NULL,
  hash       BLOB NOT NULL,
  refs       INTEGER NOT NULL,
  code       BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_hash ON vectors (generation, hash);

-- The windows of a chunk: for each the vector's id, its range in the chunk and
-- the 1-bit code. failed: no vector could be made.
CREATE TABLE chunk_vectors (
  generation INTEGER NOT NULL,
  chunk_id   INTEGER NOT NULL,
  failed     INTEGER NOT NULL DEFAULT 0,
  windows    BLOB NOT NULL,
  PRIMARY KEY (generation, chunk_id)
) STRICT, WITHOUT ROWID;

-- Active chunks that have no row of the target in chunk_vectors; changed is
-- the time of their file, since the newest come first.
CREATE TABLE vector_pending (
  chunk_id INTEGER PRIMARY KEY,
  changed  INTEGER NOT NULL
) STRICT;
CREATE INDEX vector_pending_newest ON vector_pending (changed DESC, chunk_id);

-- Windows of chunks that are gone; their vectors lose a reference.
CREATE TABLE vector_garbage (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  windows    BLOB NOT NULL
) STRICT;

-- Chunks and what waits for vectors are kept together here, so that no way of
-- writing chunks can forget it.
CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks WHEN NEW.active BEGIN
  INSERT INTO vector_pending (chunk_id, changed)
    SELECT NEW.id, max(d.mtime_ns, coalesce(p.mtime_ns, 0)) FROM documents d LEFT JOIN documents p ON p.id = d.parent_id WHERE d.id = NEW.document_id;
END;
CREATE TRIGGER chunks_activated AFTER UPDATE OF active ON chunks WHEN NEW.active AND NOT OLD.active BEGIN
  INSERT OR IGNORE INTO vector_pending (chunk_id, changed)
    SELECT NEW.id, max(d.mtime_ns, coalesce(p.mtime_ns, 0)) FROM documents d LEFT JOIN documents p ON p.id = d.parent_id WHERE d.id = NEW.document_id
      AND NOT EXISTS (SELECT 1 FROM chunk_vectors v JOIN generations g ON g.id = v.generation AND g.target WHERE v.chunk_id = NEW.id);
END;
CREATE TRIGGER chunks_retired AFTER UPDATE OF active ON chunks WHEN OLD.active AND NOT NEW.active BEGIN
  DELETE FROM vector_pending WHERE chunk_id = NEW.id;
END;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
  DELETE FROM vector_pending WHERE chunk_id = OLD.id;
  INSERT INTO vector_garbage (windows) SELECT v.windows FROM generations g JOIN chunk_vectors v ON v.generation = g.id AND v.chunk_id = OLD.id WHERE length(v.windows) > 0;
  DELETE FROM chunk_vectors WHERE chunk_id = OLD.id AND generation IN (SELECT id FROM generations);
END;

INSERT INTO vector_pending (chunk_id, changed)
  SELECT c.id, max(d.mtime_ns, coalesce(p.mtime_ns, 0)) FROM chunks c JOIN documents d ON d.id = c.document_id LEFT JOIN documents p ON p.id = d.parent_id WHERE c.active;
