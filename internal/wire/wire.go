// Package wire holds the JSON values of the admin socket, shared by the
// daemon's admin API and its clients. Data only, standard library only: no
// behaviour, no defaults.
package wire

import "time"

// APIVersion is the major version of the admin API; a client refuses another.
const APIVersion = 1

// Error is the one error shape: {"error": {...}}.
type Error struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody says what was wrong and what to do next.
type ErrorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Health answers GET /health.
type Health struct {
	Status     string            `json:"status"` // ok, degraded, warming_up
	APIVersion int               `json:"api_version"`
	Version    string            `json:"version"`
	PID        int               `json:"pid"`
	Degraded   map[string]string `json:"degraded,omitempty"` // part → why
}

// Queue are the queue's counters.
type Queue struct {
	Pending    int64 `json:"pending"`
	Processing int64 `json:"processing"`
	Failed     int64 `json:"failed"`
	// Begun are those in processing that a worker has begun; the rest are set
	// aside for the workers and wait. Given for the whole queue only.
	Begun int64 `json:"begun,omitempty"`
}

// KB is a knowledge base with its counters.
type KB struct {
	Name        string    `json:"name"`
	Root        string    `json:"root"`
	Dir         string    `json:"dir"`
	Mounted     bool      `json:"mounted"`
	Available   bool      `json:"available"`
	Reason      string    `json:"reason,omitempty"` // why not available
	Paused      bool      `json:"paused,omitempty"`
	Documents   int64     `json:"documents"`
	Chunks      int64     `json:"chunks"`
	Bytes       int64     `json:"bytes"`
	Excluded    int64     `json:"excluded"`
	Queue       Queue     `json:"queue"`
	LastIndexed time.Time `json:"last_indexed,omitzero"`
}

// Watcher is the watch state of one root or mount.
type Watcher struct {
	Root      string    `json:"root"`
	Dir       string    `json:"dir"`
	Mode      string    `json:"mode"` // events, polling, degraded, unavailable
	Watches   int       `json:"watches"`
	Overflows int64     `json:"overflows"`
	Reason    string    `json:"reason,omitempty"`
	Advice    string    `json:"advice,omitempty"`
	Notes     []string  `json:"notes,omitempty"`
	LastEvent time.Time `json:"last_event,omitzero"`
}

// Embedder describes the embedding stage.
type Embedder struct {
	State      string  `json:"state"` // off, ready, paused, failed
	Model      string  `json:"model,omitempty"`
	Serving    string  `json:"serving,omitempty"` // the model that searches use, while it is another one
	Dimension  int     `json:"dimension,omitempty"`
	Backlog    int64   `json:"backlog"`               // chunks that wait for vectors of Model
	Embedded   int64   `json:"embedded"`              // chunks that do not
	Total      int64   `json:"total"`                 // chunks
	Failed     int64   `json:"failed,omitempty"`      // documents of which a part has no vectors
	Rate       float64 `json:"rate,omitempty"`        // chunks a second over the last minute
	ETASeconds int64   `json:"eta_seconds,omitempty"` // until the backlog is done; 0 = unknown or nothing to do
	Reason     string  `json:"reason,omitempty"`
}

// Status answers GET /admin/status.
type Status struct {
	Version       string    `json:"version"`
	PID           int       `json:"pid"`
	Started       time.Time `json:"started"`
	UptimeSeconds int64     `json:"uptime_seconds"`
	Phase         string    `json:"phase"` // warming_up, scanning, indexing, idle, paused
	PausedReason  string    `json:"paused_reason,omitempty"`
	KBCount       int       `json:"kbs"`
	Documents     int64     `json:"documents"`
	Chunks        int64     `json:"chunks"`
	Bytes         int64     `json:"bytes"`
	Poor          int64     `json:"poor"` // documents whose text is poor
	Queue         Queue     `json:"queue"`
	Rate          float64   `json:"rate"`                  // documents a second over the last minute
	ETASeconds    int64     `json:"eta_seconds,omitempty"` // 0 = unknown or nothing to do
	Embedder      Embedder  `json:"embedder"`
	Watchers      []Watcher `json:"watchers"`
	Index         Index     `json:"index"`
	Sockets       Sockets   `json:"sockets"`
	Agents        []Agent   `json:"agents"` // connected MCP clients
	Warnings      []string  `json:"warnings,omitempty"`
}

// Index is the index's place and cost.
type Index struct {
	Path              string `json:"path"`
	Bytes             int64  `json:"bytes"`
	RetainedRevisions int64  `json:"retained_revisions"`
	RetainedBytes     int64  `json:"retained_bytes"`
	Quarantined       string `json:"quarantined,omitempty"`
	FreeDiskBytes     int64  `json:"free_disk_bytes"`
}

// Sockets are the paths the daemon listens on.
type Sockets struct {
	MCP   string `json:"mcp"`
	Admin string `json:"admin"`
}

// Agent is one connected MCP client.
type Agent struct {
	Session   string    `json:"session"`
	Name      string    `json:"name"`
	Client    string    `json:"client,omitempty"` // what it called itself
	Connected time.Time `json:"connected"`
	Calls     int64     `json:"calls"`
	LastTool  string    `json:"last_tool,omitempty"`
	LastQuery string    `json:"last_query,omitempty"`
	Scope     *Scope    `json:"scope,omitempty"` // of an agent with a socket of its own; nil = it may do everything
}

// Document is one row of a KB's listing.
type Document struct {
	KB         string    `json:"kb"`
	Path       string    `json:"path"`
	PathBytes  []byte    `json:"path_bytes,omitempty"` // the path itself where it is not UTF-8; Path is then for the eye only
	Title      string    `json:"title,omitempty"`
	Status     string    `json:"status"` // indexed, pending, failed, excluded
	Code       string    `json:"code,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Chunks     int64     `json:"chunks"`
	Bytes      int64     `json:"bytes"`
	RevisionID string    `json:"revision_id,omitempty"`
	Format     string    `json:"format,omitempty"`
	Quality    *Quality  `json:"quality,omitempty"` // nil = it has no text
	IndexedAt  time.Time `json:"indexed_at,omitzero"`
	Modified   time.Time `json:"modified,omitzero"`
}

// Documents answers GET /admin/kbs/:kb/documents.
type Documents struct {
	KB         string     `json:"kb"`
	Documents  []Document `json:"documents"`
	Total      int64      `json:"total"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

// DocumentView answers GET /document: metadata, one page of text, chunk borders.
type DocumentView struct {
	Document
	FrontMatter map[string]any    `json:"front_matter,omitempty"`
	FrontError  string            `json:"front_error,omitempty"`
	Meta        map[string]string `json:"meta,omitempty"`
	Content     string            `json:"content"`
	Offset      int               `json:"content_offset"`
	Limit       int               `json:"content_limit"`
	TotalChars  int               `json:"content_total_chars"`
	Truncated   bool              `json:"content_truncated"`
	Stale       bool              `json:"stale"`
	Revisions   []Revision        `json:"revisions,omitempty"`
	Borders     []ChunkBorder     `json:"chunk_borders,omitempty"`
}

// Revision is one retained revision.
type Revision struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
	Current bool      `json:"current"`
	Chars   int       `json:"chars"`
}

// ChunkBorder is where a chunk lies in the text.
type ChunkBorder struct {
	Index     int      `json:"index"`
	CharStart int      `json:"char_start"`
	CharEnd   int      `json:"char_end"`
	FirstLine int      `json:"first_line"`
	LastLine  int      `json:"last_line"`
	Headings  []string `json:"headings,omitempty"`
	Page      int      `json:"page,omitempty"`
}

// Job is one row of the queue.
type Job struct {
	ID        int64     `json:"id"`
	KB        string    `json:"kb"`
	Path      string    `json:"path"`
	PathBytes []byte    `json:"path_bytes,omitempty"` // as in Document
	State     string    `json:"state"`                // pending, processing, failed
	Reason    string    `json:"reason"`
	Stage     string    `json:"stage,omitempty"`
	Class     string    `json:"class,omitempty"`
	Code      string    `json:"code,omitempty"`
	Message   string    `json:"message,omitempty"`
	Hint      string    `json:"hint,omitempty"`
	Attempts  int       `json:"attempts"`
	Priority  int       `json:"priority,omitempty"` // the higher, the sooner its turn; a bump sets the highest
	Modified  time.Time `json:"modified,omitzero"`  // the file's; within a priority the newest come first
	NextTry   time.Time `json:"next_try,omitzero"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
}

// Jobs answers GET /admin/jobs.
type Jobs struct {
	Queue Queue `json:"queue"`
	Jobs  []Job `json:"jobs"`
	Total int64 `json:"total"`
}

// Freshness says how far an answer lags behind the disk.
type Freshness struct {
	Pending        int64    `json:"pending"`
	Failed         int64    `json:"failed"`
	PendingVectors int64    `json:"pending_vectors,omitempty"` // chunks of the whole index that are found by keyword only so far
	Degraded       []string `json:"degraded,omitempty"`
}

// Lines is a range of lines, 1-based and inclusive.
type Lines struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// Hit is one search result.
type Hit struct {
	KB         string   `json:"kb"`
	Path       string   `json:"path"`
	PathBytes  []byte   `json:"path_bytes,omitempty"` // as in Document
	Title      string   `json:"title"`
	ChunkIndex int      `json:"chunk_index"`
	Lines      Lines    `json:"lines"`
	Headings   []string `json:"headings"`
	Page       int      `json:"page,omitempty"`
	Score      float64  `json:"score"`
	Match      string   `json:"match"` // keyword, meaning, both
	RevisionID string   `json:"revision_id"`
	Content    string   `json:"content"`
	Truncated  bool     `json:"content_truncated"`
	Poor       string   `json:"poor,omitempty"`  // why the document's text is poor
	Marks      [][2]int `json:"marks,omitempty"` // byte ranges of matched words in content
	Explain    any      `json:"explain,omitempty"`
}

// SearchResult answers GET /search.
type SearchResult struct {
	Query     string    `json:"query"`
	Results   []Hit     `json:"results"`
	Freshness Freshness `json:"freshness"`
	Reason    string    `json:"reason,omitempty"`   // why it is empty
	Fallback  string    `json:"fallback,omitempty"` // why a leg did not take part
	Weak      bool      `json:"weak,omitempty"`
	TookMS    float64   `json:"took_ms"`
}

// ReindexCounts answers POST /admin/reindex.
type ReindexCounts struct {
	Added    int `json:"added"`
	Modified int `json:"modified"`
	Deleted  int `json:"deleted"`
	Skipped  int `json:"skipped"`
	Excluded int `json:"excluded"`
	Enqueued int `json:"enqueued"`
}

// Retried answers POST /admin/jobs/retry.
type Retried struct {
	Retried int `json:"retried"`
}

// AddDocument is the body of POST /admin/kbs/:kb/documents.
type AddDocument struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Added answers POST /admin/kbs/:kb/documents.
type Added struct {
	KB       string `json:"kb"`
	Path     string `json:"path"`
	Queued   bool   `json:"queued"`
	Replaced bool   `json:"replaced"`
}

// Deleted answers the DELETE calls.
type Deleted struct {
	KB        string `json:"kb"`
	Path      string `json:"path,omitempty"`
	Existed   bool   `json:"existed"`
	Documents int64  `json:"documents,omitempty"`
}

// Verdict answers GET /admin/ignored?path=: is this path indexed, and if not, which rule says so.
type Verdict struct {
	Path    string `json:"path"`
	KB      string `json:"kb,omitempty"`
	Doc     string `json:"document,omitempty"`
	Indexed bool   `json:"indexed"`
	Code    string `json:"code"`
	Reason  string `json:"reason,omitempty"`
	Rule    string `json:"rule,omitempty"`
	State   string `json:"state,omitempty"` // the document's state in the index
}

// Event is one server-sent event of GET /admin/events; the SSE event name is
// Type. A stream begins with a "hello" carrying the whole Status, so a client
// that reconnects is in step again.
type Event struct {
	Type     string    `json:"type"` // hello, queue, document, watcher, phase, agents, log; link (from the client, never sent)
	At       time.Time `json:"at"`
	Status   *Status   `json:"status,omitempty"`   // hello
	History  *History  `json:"history,omitempty"`  // hello
	Queue    *Queue    `json:"queue,omitempty"`    // queue
	Document *DocEvent `json:"document,omitempty"` // document
	Watcher  *Watcher  `json:"watcher,omitempty"`  // watcher
	Phase    string    `json:"phase,omitempty"`    // phase
	Agents   []Agent   `json:"agents,omitempty"`   // agents
	Log      *LogLine  `json:"log,omitempty"`      // log
	Link     *Link     `json:"link,omitempty"`     // link
}

// DocEvent is something that happened to a document.
type DocEvent struct {
	KB      string `json:"kb"`
	Path    string `json:"path"`
	What    string `json:"what"` // indexed, unchanged, deleted, failed, excluded, queued
	Chunks  int    `json:"chunks,omitempty"`
	Message string `json:"message,omitempty"`
	TookMS  int64  `json:"took_ms,omitempty"`
}

// LogLine is one line of the daemon's log.
type LogLine struct {
	At      time.Time `json:"at"`
	Level   string    `json:"level"`
	Message string    `json:"message"`
	Attrs   string    `json:"attrs,omitempty"`
}
