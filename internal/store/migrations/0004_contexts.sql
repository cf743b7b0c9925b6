-- A sentence about a chunk's place in its document, put in front of it when it
-- is embedded. model: the chat model and how it was asked.
CREATE TABLE chunk_contexts (
  chunk_id INTEGER PRIMARY KEY,
  model    TEXT NOT NULL,
  sentence TEXT NOT NULL
) STRICT;
CREATE TRIGGER chunk_contexts_deleted AFTER DELETE ON chunks BEGIN
  DELETE FROM chunk_contexts WHERE chunk_id = OLD.id;
END;

-- again: the chunk has vectors, which serve until it is embedded once more.
ALTER TABLE vector_pending ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
