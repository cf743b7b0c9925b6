-- SQLite may take a join's tables in any order, and without statistics it read
-- the windows of all chunks there are for each one that goes. CROSS JOIN keeps
-- the order: the few generations first, then one row of each.
DROP TRIGGER chunks_activated;
CREATE TRIGGER chunks_activated AFTER UPDATE OF active ON chunks WHEN NEW.active AND NOT OLD.active BEGIN
  INSERT OR IGNORE INTO vector_pending (chunk_id, changed)
    SELECT NEW.id, max(d.mtime_ns, coalesce(p.mtime_ns, 0)) FROM documents d LEFT JOIN documents p ON p.id = d.parent_id WHERE d.id = NEW.document_id
      AND NOT EXISTS (SELECT 1 FROM generations g CROSS JOIN chunk_vectors v ON v.generation = g.id AND v.chunk_id = NEW.id WHERE g.target);
END;
DROP TRIGGER chunks_deleted;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
  DELETE FROM vector_pending WHERE chunk_id = OLD.id;
  INSERT INTO vector_garbage (windows)
    SELECT v.windows FROM generations g CROSS JOIN chunk_vectors v ON v.generation = g.id AND v.chunk_id = OLD.id WHERE length(v.windows) > 0;
  DELETE FROM chunk_vectors WHERE chunk_id = OLD.id AND generation IN (SELECT id FROM generations);
END;
