// Package store keeps the index: one SQLite file in WAL mode with the
// documents, their revisions and texts, the chunks with their full-text index,
// and the queue of jobs. It owns the schema and its migrations, the two pools
// of connections (one writer, several readers), the plan of a full-text query,
// retention, and the checks and repairs of the file. No SQL leaves it.
//
// It does not read documents, does not cut or analyse text (terms come ready
// made), does not decide what to index or when to try again, and does not
// rank beyond BM25.
//
// What holds at every moment, also after a crash: the active chunks are the
// rows of the full-text index; a document's current revision, its chunks and
// its job change in one transaction; counters agree with what they count.
package store
