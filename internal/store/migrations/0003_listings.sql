-- What listings must count or find among very many ordinary documents: the
-- few that are not ordinary, by path. Queries repeat these conditions word
-- for word, or SQLite would not see that the indexes serve them.
CREATE INDEX documents_chunkless ON documents (kb_id, path) WHERE chunks = 0;
CREATE INDEX documents_marked ON documents (kb_id, path, type, status)
  WHERE type NOT IN ('', 'note') OR status NOT IN ('', 'published');
