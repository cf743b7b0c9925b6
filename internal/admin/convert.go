package admin

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"ragd/internal/search"
	"ragd/internal/store"
	"ragd/internal/wire"
)

func wireKB(k store.KBStats) wire.KB {
	return wire.KB{
		Name: k.Name, Root: k.Root, Dir: k.Dir, Mounted: k.Mounted,
		Documents: k.Documents, Chunks: k.Chunks, Bytes: k.Bytes, Excluded: k.Excluded,
		Queue:       wire.Queue{Pending: k.Pending, Processing: k.Processing, Failed: k.Failed},
		LastIndexed: k.LastIndexed,
	}
}

// rawPath is the path's bytes where JSON cannot carry them as a string.
func rawPath(path string) []byte {
	if utf8.ValidString(path) {
		return nil
	}
	return []byte(path)
}

func wireDocument(d store.DocRecord) wire.Document {
	out := wire.Document{
		KB: d.KB, Path: d.Path, PathBytes: rawPath(d.Path), Title: d.Meta.Title,
		Status: string(d.State), Code: d.Code, Reason: d.Reason,
		Chunks: d.Chunks, Bytes: d.Size, RevisionID: d.RevisionID, Format: d.Format, IndexedAt: d.IndexedAt,
	}
	var q wire.Quality
	if len(d.Meta.Quality) > 0 && json.Unmarshal(d.Meta.Quality, &q) == nil {
		out.Quality = &q
	}
	if d.Stat.MTimeNS != 0 {
		out.Modified = time.Unix(0, d.Stat.MTimeNS).UTC()
	}
	return out
}

func wireJob(j store.Job) wire.Job {
	out := wire.Job{
		ID: j.ID, KB: j.KBName, Path: j.Path, PathBytes: rawPath(j.Path),
		State: string(j.State), Reason: string(j.Reason),
		Stage: j.Stage, Code: j.Code, Message: j.Message, Hint: j.Hint,
		Attempts: j.Attempts, Priority: j.Priority, NextTry: j.NextTry, Created: j.Created, Updated: j.Updated,
	}
	if j.Stat.MTimeNS != 0 {
		out.Modified = time.Unix(0, j.Stat.MTimeNS).UTC()
	}
	if j.Code != "" || j.Message != "" {
		out.Class = j.Class.String()
	}
	return out
}

func wireHit(h search.Hit) wire.Hit {
	out := wire.Hit{
		KB: h.KB, Path: h.Path, PathBytes: rawPath(h.Path), Title: h.Title, ChunkIndex: h.ChunkIndex,
		Lines: wire.Lines{First: h.FirstLine, Last: h.LastLine}, Headings: h.Headings, Page: h.Page,
		Score: h.Score, Match: h.Match, RevisionID: h.RevisionID,
		Content: h.Content, Truncated: h.Truncated, Marks: h.Marks,
	}
	if out.Headings == nil {
		out.Headings = []string{}
	}
	if h.Explain != nil {
		out.Explain = h.Explain
	}
	return out
}
