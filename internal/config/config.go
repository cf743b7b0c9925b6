package config

import (
	"log/slog"
	"time"
)

// Config is the settings in force. Load makes it; treat it as read-only.
// Every path is absolute.
type Config struct {
	File string // the settings file that was read; "" = there is none

	Roots  []Root
	Mounts []Mount
	Agents []Agent

	Exclude        []string // patterns in .gitignore syntax, for every KB
	Hidden         bool     // index hidden files too
	MaxFileBytes   int64
	TextExtensions []string // lower case, no dot
	Archives       bool     // zip, tar and gz files are opened

	DBPath       string
	ScanInterval time.Duration // 0 = no backstop scans
	LogLevel     slog.Level

	ChunkMaxChars   int
	SnippetMaxChars int

	Indexer    Indexer
	Retention  Retention
	Sockets    Sockets
	Admin      Admin
	Watch      Watch
	MCP        MCP
	Knowledge  Knowledge
	Embeddings Embeddings
	Contextual Contextual

	// Notes are facts to state at start ("no roots are configured; using …"),
	// Warnings are things that are probably not meant.
	Notes    []string
	Warnings []string

	rootDirs []string // kb_root
	makeRoot bool     // the only root is the default one and is made where missing
	origin   map[string]Source
}

// Root is a folder whose first-level folders are KBs.
type Root struct {
	Name   string // unique
	Dir    string
	Source Source
}

// Mount is a folder that is a KB by itself.
type Mount struct {
	Name     string // unique
	Dir      string
	Writable bool // agents may write and delete files in it
	Poll     bool // look at it at intervals instead of relying on file events
	Source   Source
}

// Indexer are the settings of the job queue.
type Indexer struct {
	Concurrency  int // 0 = one for each CPU
	RetryMax     int
	StaleTimeout time.Duration
}

// Retention says how long superseded revisions are kept.
type Retention struct {
	Revisions int           // superseded revisions of a document
	Deleted   time.Duration // deleted documents
}

// Sockets are the paths the daemon listens on.
type Sockets struct {
	MCP   string
	Admin string
}

// Admin is the admin API on TCP.
type Admin struct {
	Address string // host:port; "" = the socket only
	Key     string
}

// Watch are the settings of the watcher.
type Watch struct {
	Poll         []string // folders without file events; everything at or below them is polled
	PollInterval time.Duration
	Quiet        time.Duration // after the last change
	MaxDelay     time.Duration // after the first change
}

// MCP are the settings of the tool server.
type MCP struct {
	Surface string // full, core
}

// Knowledge are the settings of the tool search_knowledge.
type Knowledge struct {
	Enabled bool
}

// Embeddings are the settings of search by meaning.
type Embeddings struct {
	Enabled   bool
	ModelDir  string // a model in the Hugging Face layout; "" = the built-in one
	BaseURL   string // an OpenAI-compatible server; "" = embed in this process
	APIKey    string
	Model     string
	Dimension int // 0 = the model's own
	Timeout   time.Duration
	Threads   int // 0 = half of the CPUs, all of them when nothing else is to be done
}

// Contextual are the settings of contextual chunking.
type Contextual struct {
	Enabled     bool
	BaseURL     string
	APIKey      string
	Model       string
	Timeout     time.Duration
	Concurrency int
}
