-- Contents whose quality note says that the text is poor; there are few.
CREATE INDEX contents_flagged ON contents (id) WHERE json_extract(meta, '$.q.flag') IS NOT NULL;
