package config

import (
	"log/slog"
	"time"
)

// Key is one setting.
type Key struct {
	Name    string // in the file; a dot stands for a section
	Env     string
	Flag    string // "" = no flag
	Default string // as it would be written in the environment
	Allowed string
	Doc     string
	Reload  bool // takes effect without a restart
	Secret  bool

	set  func(*Config, input) error // an error says only what is wrong; the caller names key, value and place
	show func(*Config) string
}

// Keys returns every setting, in the order of the reference.
func Keys() []Key {
	keys := documentKeys()
	for _, more := range [][]Key{indexKeys(), doorKeys(), embeddingKeys(), contextualKeys()} {
		keys = append(keys, more...)
	}
	return keys
}

const day = 24 * 3600

func documentKeys() []Key {
	return []Key{
		pathsKey(Key{Name: "kb_root", Env: "KB_ROOT", Flag: "root", Reload: true,
			Doc: "Folders whose first-level folders are knowledge bases. In the file also as [[root]] with name and dir. Default: ./kbs where it exists, else ragd/kbs in the XDG data folder."},
			func(c *Config) *[]string { return &c.rootDirs }),
		listKey(Key{Name: "exclude", Env: "RAGD_EXCLUDE", Reload: true, Allowed: "patterns in .gitignore syntax",
			Doc: "Patterns of files that are never indexed, in every knowledge base."},
			checkPattern, func(c *Config) *[]string { return &c.Exclude }),
		boolKey(Key{Name: "hidden", Env: "RAGD_HIDDEN", Default: "false", Reload: true,
			Doc: "Index hidden files and folders too. Built-in excludes (.git, .env, keys …) still apply."},
			func(c *Config) *bool { return &c.Hidden }),
		bytesKey(Key{Name: "max_file_bytes", Env: "RAGD_MAX_FILE_BYTES", Default: "52428800",
			Doc: "Files larger than this are listed as excluded, and documents written by agents may not be larger. Bytes, or with KiB, MiB, GiB."},
			1<<10, 1<<30, func(c *Config) *int64 { return &c.MaxFileBytes }),
		listKey(Key{Name: "text_extensions", Env: "TEXT_EXTENSIONS",
			Allowed: "file name extensions of letters, digits, - + _, such as \"adoc,rst2\"",
			Doc:     "Further extensions to index as plain text."},
			cleanExtension, func(c *Config) *[]string { return &c.TextExtensions }),
		boolKey(Key{Name: "archives", Env: "RAGD_ARCHIVES", Default: "false",
			Doc: "Open zip, tar and gz files: each file in one is a document of its own, and archives in archives stay closed."},
			func(c *Config) *bool { return &c.Archives }),
	}
}

func indexKeys() []Key {
	return []Key{
		pathKey(Key{Name: "db_path", Env: "DB_PATH", Flag: "db",
			Doc: "The index file. Default: ragd/index.db in the XDG data folder."},
			func(c *Config) *string { return &c.DBPath }),
		secondsKey(Key{Name: "scan_interval", Env: "SCAN_INTERVAL", Default: "300", Reload: true,
			Doc: "Seconds between backstop scans; changes are seen by the watcher long before. 0 = off."},
			true, 5, 7*day, func(c *Config) *time.Duration { return &c.ScanInterval }),
		intKey(Key{Name: "chunk_max_chars", Env: "CHUNK_MAX_CHARS", Default: "3200",
			Doc: "Hard cap of a chunk in characters. A change re-chunks every document."},
			200, 100_000, func(c *Config) *int { return &c.ChunkMaxChars }),
		intKey(Key{Name: "search_snippet_max_chars", Env: "SEARCH_SNIPPET_MAX_CHARS", Default: "1000", Reload: true,
			Doc: "Most characters of a search result's text. A change needs no reindex."},
			40, 100_000, func(c *Config) *int { return &c.SnippetMaxChars }),
		intKey(Key{Name: "indexer_concurrency", Env: "INDEXER_CONCURRENCY", Default: "0",
			Doc: "Files worked on at once. 0 = one for each CPU."},
			0, 256, func(c *Config) *int { return &c.Indexer.Concurrency }),
		intKey(Key{Name: "indexer_retry_max", Env: "INDEXER_RETRY_MAX", Default: "3",
			Doc: "Attempts before a job is parked."},
			1, 100, func(c *Config) *int { return &c.Indexer.RetryMax }),
		secondsKey(Key{Name: "indexer_stale_timeout", Env: "INDEXER_STALE_TIMEOUT", Default: "300",
			Doc: "Seconds after which a job that is still in work is taken for lost and started again."},
			false, 10, day, func(c *Config) *time.Duration { return &c.Indexer.StaleTimeout }),
		intKey(Key{Name: "retention.revisions", Env: "RAGD_RETENTION_REVISIONS", Default: "10",
			Doc: "Superseded revisions kept of each document, for addressed reads. Search sees only the current one."},
			0, 10_000, func(c *Config) *int { return &c.Retention.Revisions }),
		daysKey(Key{Name: "retention.deleted_days", Env: "RAGD_RETENTION_DELETED_DAYS", Default: "30",
			Doc: "Days for which a deleted document's revisions are kept."},
			0, 3650, func(c *Config) *time.Duration { return &c.Retention.Deleted }),
		pathsKey(Key{Name: "watch.poll", Env: "RAGD_WATCH_POLL", Reload: true,
			Doc: "Folders on file systems that send no events (network mounts); they are polled."},
			func(c *Config) *[]string { return &c.Watch.Poll }),
		secondsKey(Key{Name: "watch.poll_interval", Env: "RAGD_WATCH_POLL_INTERVAL", Default: "30",
			Doc: "Seconds between two looks at a polled folder."},
			false, 1, day, func(c *Config) *time.Duration { return &c.Watch.PollInterval }),
		millisKey(Key{Name: "watch.quiet_ms", Env: "RAGD_WATCH_QUIET_MS", Default: "100",
			Doc: "Milliseconds of quiet after the last change of a file before it is read."},
			1, 60_000, func(c *Config) *time.Duration { return &c.Watch.Quiet }),
		millisKey(Key{Name: "watch.max_delay_ms", Env: "RAGD_WATCH_MAX_DELAY_MS", Default: "2000",
			Doc: "Milliseconds after the first change at which a file is read even if it goes on changing."},
			1, 600_000, func(c *Config) *time.Duration { return &c.Watch.MaxDelay }),
	}
}

func doorKeys() []Key {
	return []Key{
		levelKey(Key{Name: "log_level", Env: "LOG_LEVEL", Flag: "log-level", Default: "info", Reload: true,
			Doc: "What is logged."},
			func(c *Config) *slog.Level { return &c.LogLevel }),
		pathKey(Key{Name: "sockets.mcp", Env: "RAGD_MCP_SOCKET", Flag: "mcp-socket",
			Doc: "The socket for agents. Default: ragd/mcp.sock in XDG_RUNTIME_DIR, or in /tmp/ragd-<uid> where that is not set."},
			func(c *Config) *string { return &c.Sockets.MCP }),
		pathKey(Key{Name: "sockets.admin", Env: "RAGD_ADMIN_SOCKET", Flag: "admin-socket",
			Doc: "The socket for the owner: ragd's own commands and ragtui. Default: ragd/admin.sock beside the other."},
			func(c *Config) *string { return &c.Sockets.Admin }),
		addressKey(Key{Name: "admin.address", Env: "RAGD_ADMIN_ADDRESS",
			Doc: "A TCP address for the admin API as well, such as 127.0.0.1:7439. An address that is not loopback needs admin.key."},
			func(c *Config) *string { return &c.Admin.Address }),
		textKey(Key{Name: "admin.key", Env: "RAGD_ADMIN_KEY", Secret: true, Allowed: "at least 16 printable ASCII characters",
			Doc: "The key for the admin API on TCP, sent as \"Authorization: Bearer KEY\"."},
			checkAPIKey, func(c *Config) *string { return &c.Admin.Key }),
		enumKey(Key{Name: "mcp.surface", Env: "RAGD_MCP_SURFACE", Default: "full", Reload: true,
			Doc: "Which tools agents see in their list; those of the other surface stay callable."},
			[]string{"full", "core"}, func(c *Config) *string { return &c.MCP.Surface }),
		boolKey(Key{Name: "knowledge.enabled", Env: "RAGD_KNOWLEDGE_ENABLED", Default: "true", Reload: true,
			Doc: "Answer the tool search_knowledge."},
			func(c *Config) *bool { return &c.Knowledge.Enabled }),
	}
}
